//! A shard is one of several parts of an experiment that run in separate processes.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shard {
    /// The number of this shard, counted from 1, and the total number of shards.
    Part(usize, usize),
    /// Environment variables contain the number of this shard, and the total unless the user states
    /// it.
    Auto(Option<usize>),
}

/// A scheduler or launcher, and the environment variables in which it numbers its tasks.
struct Starter {
    name: &'static str,
    number: &'static str,
    /// The number of the first task, unless the variable `first_in` contains another number.
    first: usize,
    first_in: Option<&'static str>,
    count_in: Option<&'static str>,
    last_in: Option<&'static str>,
    step_in: Option<&'static str>,
}

impl Starter {
    const fn new(name: &'static str, number: &'static str) -> Self {
        Self {
            name,
            number,
            first: 0,
            first_in: None,
            count_in: None,
            last_in: None,
            step_in: None,
        }
    }
}

/// Schedulers and launchers. A launcher of ranks can run within a job array, so it comes first.
const STARTERS: &[Starter] = &[
    Starter {
        count_in: Some("OMPI_COMM_WORLD_SIZE"),
        ..Starter::new("Open MPI", "OMPI_COMM_WORLD_RANK")
    },
    Starter { count_in: Some("PMI_SIZE"), ..Starter::new("MPICH's PMI", "PMI_RANK") },
    Starter {
        first_in: Some("SLURM_ARRAY_TASK_MIN"),
        count_in: Some("SLURM_ARRAY_TASK_COUNT"),
        last_in: Some("SLURM_ARRAY_TASK_MAX"),
        step_in: Some("SLURM_ARRAY_TASK_STEP"),
        ..Starter::new("Slurm", "SLURM_ARRAY_TASK_ID")
    },
    Starter {
        first_in: Some("SGE_TASK_FIRST"),
        last_in: Some("SGE_TASK_LAST"),
        step_in: Some("SGE_TASK_STEPSIZE"),
        ..Starter::new("Grid Engine", "SGE_TASK_ID")
    },
    Starter {
        first: 1,
        last_in: Some("LSB_JOBINDEX_END"),
        step_in: Some("LSB_JOBINDEX_STEP"),
        ..Starter::new("LSF", "LSB_JOBINDEX")
    },
    Starter { first: 1, ..Starter::new("PBS", "PBS_ARRAY_INDEX") },
    Starter { first: 1, ..Starter::new("Torque", "PBS_ARRAYID") },
    Starter::new("Kubernetes", "JOB_COMPLETION_INDEX"),
];

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected I/N with I from 1 to N, such as 2/8, or auto, or auto/N";
        let (part, of) = text.split_once('/').map_or((text, None), |(part, of)| (part, Some(of)));
        let of = of.map(|of| of.parse().ok().filter(|n| *n > 0).ok_or(EXPECTED)).transpose()?;
        match (part, of) {
            ("auto", of) => Ok(Self::Auto(of)),
            (part, Some(n)) => {
                let i = part.parse().ok().filter(|i| (1..=n).contains(i)).ok_or(EXPECTED)?;
                Ok(Self::Part(i, n))
            }
            _ => Err(EXPECTED.to_owned()),
        }
    }
}

impl Shard {
    pub(crate) fn resolve(self) -> Result<(usize, usize), String> {
        /// The maximum number of shards, because the costs of all shards are in memory.
        const MOST: usize = 1_000_000;
        let (index, count) = match self {
            Self::Part(i, n) => (i - 1, n),
            Self::Auto(of) => from_variables(of, |name| std::env::var(name).ok())
                .map_err(|e| format!("--shard auto: {e}"))?,
        };
        if count > MOST {
            return Err(format!("--shard: {count} shards, expected at most {MOST}"));
        }
        Ok((index, count))
    }
}

/// Returns the index of this shard and the number of shards. They are those of the innermost
/// scheduler or launcher that has several tasks. `of` is the number of shards that the user stated.
fn from_variables(
    of: Option<usize>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(usize, usize), String> {
    let number = |name: &'static str| {
        let text = variable(name).filter(|text| !text.is_empty() && text != "undefined");
        let read = |text: String| {
            text.parse().map_err(|_| format!("{name} is `{text}`, expected a whole number"))
        };
        text.map(read).transpose()
    };
    let given = |name: Option<&'static str>| name.map_or(Ok(None), number);
    let mut alone = None;
    for starter in STARTERS {
        let Some(task) = number(starter.number)? else { continue };
        // In a job that is no array, LSF sets this variable to 0.
        if starter.last_in.is_some() && task < starter.first {
            continue;
        }
        let first = given(starter.first_in)?.unwrap_or(starter.first);
        let (last, step) = (given(starter.last_in)?, given(starter.step_in)?.unwrap_or(1));
        let span =
            last.map(|last| last.checked_sub(first).map_or(0, |span| span.saturating_add(1)));
        let count = given(starter.count_in)?.or(span).or(of).ok_or_else(|| {
            format!(
                "{} does not give the number of tasks: expected --shard auto/N, where N is this number",
                starter.name
            )
        })?;
        let whole = span.is_none_or(|span| span == count) && step == 1;
        let index = task.checked_sub(first).filter(|index| *index < count && whole).ok_or_else(|| {
            format!(
                "{} is {task}, of {count} tasks that begin with {first}: an array must number its tasks one by one, as in --array=0-7",
                starter.number
            )
        })?;
        if let Some(of) = of.filter(|of| *of != count) {
            return Err(format!("{} has {count} tasks, not {of}", starter.name));
        }
        // A job with a single rank (`mpirun -n 1`) can itself be a task of a job array.
        if count > 1 {
            return Ok((index, count));
        }
        alone = Some((index, count));
    }
    alone.ok_or_else(|| {
        let names: Vec<&str> = STARTERS.iter().map(|starter| starter.number).collect();
        format!(
            "this process is not a task of a parallel job or an array: none of {} is set",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(of: Option<usize>, variables: &[(&str, &str)]) -> Result<(usize, usize), String> {
        from_variables(of, |name| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn index_and_count_are_read_from_the_variables_of_each_scheduler() {
        let slurm = [
            ("SLURM_ARRAY_TASK_ID", "5"),
            ("SLURM_ARRAY_TASK_COUNT", "4"),
            ("SLURM_ARRAY_TASK_MIN", "3"),
            ("SLURM_ARRAY_TASK_MAX", "6"),
        ];
        assert_eq!(found(None, &slurm), Ok((2, 4)));
        let sge = [
            ("SGE_TASK_ID", "3"),
            ("SGE_TASK_FIRST", "1"),
            ("SGE_TASK_LAST", "8"),
            ("SGE_TASK_STEPSIZE", "1"),
        ];
        assert_eq!(found(None, &sge), Ok((2, 8)));
        assert_eq!(
            found(
                None,
                &[("LSB_JOBINDEX", "8"), ("LSB_JOBINDEX_END", "8"), ("LSB_JOBINDEX_STEP", "1")]
            ),
            Ok((7, 8))
        );
        assert_eq!(
            found(None, &[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "4")]),
            Ok((0, 4))
        );
        assert_eq!(found(None, &[("PMI_RANK", "3"), ("PMI_SIZE", "4")]), Ok((3, 4)));
        assert_eq!(found(Some(6), &[("PBS_ARRAY_INDEX", "6")]), Ok((5, 6)));
        assert_eq!(found(Some(6), &[("PBS_ARRAYID", "1")]), Ok((0, 6)));
        assert_eq!(found(Some(6), &[("JOB_COMPLETION_INDEX", "0")]), Ok((0, 6)));
    }

    #[test]
    fn ranks_have_precedence_over_arrays_unless_there_is_only_one_rank() {
        let array = [("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_COUNT", "2")];
        let rank = |size| [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", size)];
        assert_eq!(found(None, &[array, rank("4")].concat()), Ok((0, 4)));
        assert_eq!(found(None, &[array, rank("1")].concat()), Ok((1, 2)));
        assert_eq!(found(None, &rank("1")), Ok((0, 1)));
    }

    #[test]
    fn an_incomplete_environment_is_refused() {
        assert!(
            found(None, &[])
                .unwrap_err()
                .contains("none of OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_ARRAY_TASK_ID")
        );
        assert!(
            found(
                None,
                &[("SGE_TASK_ID", "undefined"), ("LSB_JOBINDEX", "0"), ("LSB_JOBINDEX_END", "0")]
            )
            .is_err()
        );
        assert!(
            found(None, &[("PBS_ARRAY_INDEX", "2")])
                .unwrap_err()
                .contains("expected --shard auto/N")
        );
        assert!(found(Some(4), &[("PBS_ARRAY_INDEX", "0")]).unwrap_err().contains("begin with 1"));
        assert!(
            found(None, &[("PMI_RANK", "x")])
                .unwrap_err()
                .contains("PMI_RANK is `x`, expected a whole number")
        );
        assert!(
            found(Some(8), &[("PMI_RANK", "1"), ("PMI_SIZE", "4")])
                .unwrap_err()
                .contains("4 tasks, not 8")
        );
        let stepped = [
            ("SGE_TASK_ID", "3"),
            ("SGE_TASK_FIRST", "1"),
            ("SGE_TASK_LAST", "8"),
            ("SGE_TASK_STEPSIZE", "2"),
        ];
        assert!(found(None, &stepped).unwrap_err().contains("must number its tasks one by one"));
    }

    #[test]
    fn a_shard_is_written_in_three_ways() {
        assert_eq!(
            ["2/8", "auto", "auto/8"].map(|text| text.parse()),
            [Ok(Shard::Part(2, 8)), Ok(Shard::Auto(None)), Ok(Shard::Auto(Some(8)))]
        );
        assert!(
            ["", "0/8", "9/8", "8", "auto/0", "auto/x", "/"]
                .iter()
                .all(|text| text.parse::<Shard>().is_err())
        );
    }
}
