//! Tables for a page.

use super::{HEADER, WORDS, cells, in_words, reasons, title};
use crate::compare::Comparison;

/// One Markdown table a group, each followed by its sentences.
pub fn as_markdown(comparison: &Comparison) -> String {
    let mut out = String::new();
    for group in &comparison.groups {
        let rule = " --- |".repeat(WORDS) + &" ---: |".repeat(HEADER.len() - WORDS);
        out += &format!("### {}\n\n| {} |\n|{rule}\n", title(group), HEADER.map(str::trim).join(" | "));
        for line in &group.lines {
            out += &format!("| {} |\n", cells(group, line).map(|c| c.replace('|', "\\|")).join(" | "));
        }
        out += "\n";
        for sentence in reasons(group).chain(in_words(group).lines().map(str::to_owned)) {
            out += &format!("- {sentence}\n");
        }
        out += "\n";
    }
    for note in &comparison.notes {
        out += &format!("Note: {note}\n\n");
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::{partly_failed, repeated};

    #[test]
    fn the_same_cells_and_sentences_as_the_table() {
        insta::assert_snapshot!(as_markdown(&repeated()), @r"
        ### torus:4x4, uniform:64, paragon, wormhole

        | algorithm | rows | verified | n | mean, us | sd, us | 95 % | median, us | ratio | 95 % | p (Welch, U) |
        | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        | fast | ok | blocks | 3 | 10.067 | 0.306 | 9.308 to 10.826 | 10.000 | 1.000 |  |  |
        | alike | ok | blocks | 3 | 10.100 | 0.200 | 9.603 to 10.597 | 10.100 | 1.003 | 0.943 to 1.067 | 0.883, 1.000 |
        | slow | ok | blocks | 3 | 20.500 | 0.500 | 19.258 to 21.742 | 20.500 | 2.036 | 1.911 to 2.170 | < 0.001, 0.100 |

        - `alike` and `fast` do not differ by more than their spread (95 %: 0.94 to 1.07 times as long; p by Welch's t 0.883, by Mann-Whitney 1.000).
        - `fast` ran 2.04 ± 0.13 times faster than `slow` (95 %: 1.91 to 2.17; p by Welch's t < 0.001, by Mann-Whitney 0.100).
        ");
    }

    #[test]
    fn what_failed_is_shown_with_its_reason() {
        insta::assert_snapshot!(as_markdown(&partly_failed()), @r"
        ### torus:4x4, uniform:64, paragon, wormhole

        | algorithm | rows | verified | n | mean, us | sd, us | 95 % | median, us | ratio | 95 % | p (Welch, U) |
        | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        | fast | ok | blocks | 2 | 10.000 | 0.000 | no spread | 10.000 | 1.000 |  |  |
        | frail | 1 ok, 1 timeout | blocks | 1 | 20.000 |  |  | 20.000 | 2.000 |  |  |
        | odd | unsupported |  |  |  |  |  |  |  |  |  |

        - frail: 60 s are over
        - odd: a side | of 4 is  [31mtoo odd
        - `fast` ran 2.00 times faster than `frail` (a single run of `frail`: no uncertainty can be given).
        ");
    }
}
