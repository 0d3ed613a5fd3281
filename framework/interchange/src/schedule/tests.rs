use super::*;
use std::io::Write;

#[derive(Default)]
struct Events(Vec<String>);

impl EventHandler for Events {
    fn head(&mut self, head: Header) -> Result<(), HandlerError> {
        self.0.push(format!("{} nodes, {}", head.nodes, head.collective));
        Ok(())
    }

    fn event(&mut self, event: DocumentEvent) -> Result<(), HandlerError> {
        self.0.push(match event {
            DocumentEvent::Send(send) if send.from > 8 => {
                return Err(format!("there is no node {}", send.from).into());
            }
            DocumentEvent::Send(send) => {
                format!("{}: {} -> {}, {} bytes", send.step, send.from, send.to, send.bytes)
            }
            other => format!("{other:?}"),
        });
        Ok(())
    }
}

const DOCUMENT: &str = r#"{"schedule":{"collective":"alltoall","format":"swapmeet-schedule","nodes":4,"version":1},
"events":[
{"layout":{"segments":1}}
,{"blocks":[{"destinations":[[1,3]],"origins":[[0,0]]}],"bytes":3,"from":0,"path":[0,1],"step":1,"to":1}
,{"end_of_step":1}
],
"outcome":{"messages":12,"reason":"","status":"ok","steps":3,"verified":"blocks"}}
"#;

fn refused(document: &str) -> String {
    read(document.as_bytes(), &mut Events::default()).unwrap_err().to_string()
}

#[test]
fn parsing_line_by_line_gives_the_same_result() {
    let (mut whole, mut printed) = (Events::default(), Events::default());
    let outcome = read(DOCUMENT.as_bytes(), &mut whole).unwrap();
    let mut lines = LineParser::new(&mut printed);
    // The document is written in pieces, most of which do not end at a line end.
    DOCUMENT.as_bytes().chunks(7).for_each(|piece| lines.write_all(piece).unwrap());
    assert_eq!(lines.outcome(), outcome);
    assert_eq!(outcome.map(|o| o.status).as_deref(), Some("ok"));
    assert_eq!(whole.0, printed.0);
    assert_eq!(whole.0[..1], ["4 nodes, alltoall"]);
    assert_eq!(whole.0[2..], ["1: 0 -> 1, 3 bytes", "EndOfStep"]);
}

#[test]
fn errors_name_their_line() {
    for (from, to, why) in [
        ("\"version\":1", "\"version\":2", "its version is 2, expected 1 at line 1"),
        (
            "swapmeet-schedule",
            "goal",
            "its format is `goal`, expected `swapmeet-schedule` at line 1",
        ),
        ("\"from\":0", "\"from\":9", "there is no node 9 at line 4"),
        ("\"from\":0,", "", "the send of step 1 has no `from` at line 4"),
        (
            "\"blocks\":[{\"destinations\":[[1,3]],\"origins\":[[0,0]]}],",
            "",
            "expected one at line 4",
        ),
        ("[[1,3]]", "[[1,-3]]", "line 4"),
        ("{\"end_of_step\":1}", "{\"rest\":1}", "expected an event"),
        ("\"events\"", "\"event\"", "missing field `events`"),
        ("],\n\"outcome\"", "", "line 6"),
    ] {
        assert!(DOCUMENT.contains(from), "{from}");
        let error = refused(&DOCUMENT.replacen(from, to, 1));
        assert!(error.contains(why), "{from} -> {to}: {error}");
    }
}

#[test]
fn nesting_without_end_is_refused() {
    for key in ["more", "path", "share"] {
        let deep =
            DOCUMENT.replace("\"path\":[0,1]", &format!("\"{key}\":{}", "[".repeat(100_000)));
        assert!(refused(&deep).contains("line 4"), "{}", refused(&deep));
    }
}
