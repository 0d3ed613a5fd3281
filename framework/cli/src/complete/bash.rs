//! The completion script of bash.

/// The lines of clap's script that pass the command line to the program.
const WORDS: &str = r#"    local words=("${COMP_WORDS[@]}")
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        words[COMP_CWORD]="$2"
    fi
"#;

/// The replacement of [`WORDS`]. Bash divides words at colons and equals signs; these are joined.
const WHOLE_WORDS: &str = r#"    local words=() part joined=false
    for part in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ ${#words[@]} -gt 1 && ( $joined == true || "$part" == [:=]* ) ]]; then
            words[${#words[@]}-1]+="$part"
        else
            words+=("$part")
        fi
        if [[ "$part" == *[:=] ]]; then joined=true; else joined=false; fi
    done
    _CLAP_COMPLETE_INDEX=$(( ${#words[@]} - 1 ))
"#;

const RECEIVED: &str = "    if [[ $? != 0 ]]; then\n";

/// The replacement of [`RECEIVED`]. Bash replaces only the part of the word after the last colon or
/// equals sign. So these lines remove the part before it from each completion.
const LAST_PART: &str = r#"    local ok=$? whole="${words[${#words[@]}-1]}"
    COMPREPLY=("${COMPREPLY[@]#"${whole%"${whole##*[:=]}"}"}")
    if [[ $ok != 0 ]]; then
"#;

pub(super) fn with_whole_words(script: &str) -> String {
    script.replacen(WORDS, WHOLE_WORDS, 1).replacen(RECEIVED, LAST_PART, 1)
}
