//! The completion script of bash.

/// The lines of the generated script that pass the words of the command line to the program.
const WORDS: &str = r#"    local words=("${COMP_WORDS[@]}")
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        words[COMP_CWORD]="$2"
    fi
"#;

/// The lines that replace [`WORDS`]. Bash divides words at colons and equals signs, which specs
/// contain. These lines join them again for the word before the cursor.
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

/// The line of the generated script that follows the request for completions.
const RECEIVED: &str = "    if [[ $? != 0 ]]; then\n";

/// The lines that replace [`RECEIVED`]. Bash replaces only the text after the last colon or equals
/// sign, so they remove the text up to that sign from each completion.
const LAST_PART: &str = r#"    local ok=$? whole="${words[${#words[@]}-1]}"
    COMPREPLY=("${COMPREPLY[@]#"${whole%"${whole##*[:=]}"}"}")
    if [[ $ok != 0 ]]; then
"#;

/// Changes the generated script so that it completes words with colons and equals signs.
pub(super) fn with_whole_words(script: &str) -> String {
    script.replacen(WORDS, WHOLE_WORDS, 1).replacen(RECEIVED, LAST_PART, 1)
}
