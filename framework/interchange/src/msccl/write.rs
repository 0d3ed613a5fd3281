//! Writes documents that [`read`](super::read) accepts. They contain all attributes that RCCL's
//! parser needs.

use super::{Program, Step};
use std::collections::HashSet;
use std::io::{self, Write};

/// Writes a program as a document with this name.
pub fn write(program: &Program, name: &str, out: &mut dyn Write) -> io::Result<()> {
    // Compute the attributes of the element `algo` from the programs of the GPUs.
    let channels = program
        .gpus
        .iter()
        .flat_map(|gpu| &gpu.blocks)
        .map(|block| block.channel + 1)
        .max()
        .unwrap_or(1);
    let loops = program.gpus.iter().map(|gpu| gpu.chunks[0].max(gpu.chunks[1])).max().unwrap_or(0);
    // Replace all characters of the name that would have to be escaped.
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.:".contains(c) { c } else { '_' })
        .collect();
    writeln!(
        out,
        "<algo name=\"{name}\" proto=\"Simple\" nchannels=\"{channels}\" nchunksperloop=\"{loops}\" ngpus=\"{}\" coll=\"{}\" inplace=\"{}\" outofplace=\"{}\" minBytes=\"0\" maxBytes=\"1099511627776\">",
        program.gpus.len(),
        program.collective.word(),
        u8::from(program.in_place),
        u8::from(!program.in_place)
    )?;
    for (id, gpu) in program.gpus.iter().enumerate() {
        let [i, o, s] = gpu.chunks;
        writeln!(out, "  <gpu id=\"{id}\" i_chunks=\"{i}\" o_chunks=\"{o}\" s_chunks=\"{s}\">")?;
        // The steps for which another thread block of the GPU waits. They get the
        // attribute `hasdep`.
        let awaited: HashSet<(u64, u64)> = gpu
            .blocks
            .iter()
            .flat_map(|block| &block.steps)
            .filter_map(|step| step.dependency)
            .collect();
        for (number, block) in (0..).zip(&gpu.blocks) {
            let (send, receive) = (or_none(block.send), or_none(block.receive));
            writeln!(
                out,
                "    <tb id=\"{number}\" send=\"{send}\" recv=\"{receive}\" chan=\"{}\">",
                block.channel
            )?;
            for (s, step) in (0..).zip(&block.steps) {
                step_line(s, step, awaited.contains(&(number, s)), out)?;
            }
            writeln!(out, "    </tb>")?;
        }
        writeln!(out, "  </gpu>")?;
    }
    writeln!(out, "</algo>")
}

fn step_line(s: u64, step: &Step, is_awaited: bool, out: &mut dyn Write) -> io::Result<()> {
    let Step { kind, source, target, count, dependency, .. } = step;
    let (block, number) = (
        or_none(dependency.map(|(block, _)| block)),
        or_none(dependency.map(|(_, number)| number)),
    );
    writeln!(
        out,
        "      <step s=\"{s}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{count}\" depid=\"{block}\" deps=\"{number}\" hasdep=\"{}\"/>",
        kind.word,
        source.buffer.letter(),
        source.offset,
        target.buffer.letter(),
        target.offset,
        u8::from(is_awaited)
    )
}

fn or_none(number: Option<u64>) -> i64 {
    number.map_or(-1, |number| number as i64)
}
