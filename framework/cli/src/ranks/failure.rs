//! Finds the reason why a run on real ranks failed in its error output.

/// Texts in error messages of `mpirun`, each with the flag with which the error does not occur.
const HINTS: [(&str, &str); 2] =
    [("not enough slots", "--oversubscribe"), ("run as root", "--allow-run-as-root")];

pub(super) fn of_program(errors: &str) -> Option<String> {
    errors.lines().find_map(|line| line.split_once("replay: ")).map(|(_, rest)| rest.to_owned())
}

/// Returns the first sentence of a launcher's error output, because later lines contain only
/// general advice. If the error has a known remedy, a hint follows: an `mpirun` command with the
/// missing flag.
pub(super) fn of_launcher(errors: &str, launch: &[String]) -> Option<String> {
    let says_something = |line: &&str| line.contains(char::is_alphabetic);
    let mut sentence = String::new();
    for line in errors.lines().map(str::trim).skip_while(|line| !says_something(line)) {
        if !says_something(&line) {
            break;
        }
        let space = if sentence.is_empty() { "" } else { " " };
        sentence += &format!("{space}{line}");
        if line.ends_with(['.', ':']) {
            break;
        }
    }
    let reason = sentence.trim_end_matches(['.', ':']);
    let hint = HINTS.iter().find(|(text, _)| reason.contains(text));
    let hint = hint.map(|(_, flag)| {
        let flags = match launch {
            [program, flags @ ..] if program == "mpirun" => flags.join(" "),
            _ => "-n {ranks}".to_owned(),
        };
        format!("; try --launch 'mpirun {flag} {flags}'")
    });
    let hint = hint.unwrap_or_default();
    (!reason.is_empty()).then(|| format!("{reason}{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_is_the_reason() {
        let line = "-".repeat(74);
        let slots = format!(
            "{line}\nThere are not enough slots available in the system to satisfy the 64\nslots that were requested by the application:\n\n  ./replay\n\nEither request fewer procs for your application, or make more slots\navailable for use.\n{line}\n"
        );
        let default = ["mpirun", "-n", "{ranks}"].map(str::to_owned);
        assert_eq!(
            of_launcher(&slots, &default).unwrap(),
            "There are not enough slots available in the system to satisfy the 64 slots that were requested by the application; try --launch 'mpirun --oversubscribe -n {ranks}'"
        );
        let root = format!(
            "{line}\nmpirun has detected an attempt to run as root.\n\nRunning as root is *strongly* discouraged as any mistake (e.g., in\ndefining TMPDIR) or bug can result in catastrophic damage to the OS\nfile system, leaving your system in an unusable state.\n\nNote that these options are not needed; proceed at your own risk.\n{line}\n"
        );
        let changed = ["mpirun", "--oversubscribe", "-n", "{ranks}"].map(str::to_owned);
        assert_eq!(
            of_launcher(&root, &changed).unwrap(),
            "mpirun has detected an attempt to run as root; try --launch 'mpirun --allow-run-as-root --oversubscribe -n {ranks}'"
        );
        assert_eq!((of_launcher(&line, &default), of_program(&root)), (None, None));
        assert_eq!(of_program("a\nreplay: rank 1 waits\n").unwrap(), "rank 1 waits");
    }
}
