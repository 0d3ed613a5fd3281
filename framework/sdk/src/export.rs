//! From a Rust type to the plugin's table: the trait, the macro and the trampolines between them.

use crate::collective::Collective;
use crate::param::ParamInfo;
use crate::problem::Problem;
use crate::schedule::Schedule;
use crate::stop::Stop;
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use swapmeet_abi::{
    SWM_ABI_MAJOR, SWM_ABI_MINOR, SWM_ERROR, SWM_INVALID, SWM_MAGIC, SWM_OK, SWM_STOPPED,
    SWM_UNSUPPORTED, SwmAlgorithm, SwmHead, SwmHost, SwmParamInfo, SwmPlugin, SwmProblem, SwmStr,
    read_sized,
};

/// What lists say of an algorithm.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// The name users type: lower case, digits and hyphens.
    pub name: &'static str,
    /// What it does, in one line for lists.
    pub title: &'static str,
    /// Where it was published: authors, title, year.
    pub paper: &'static str,
    /// On what it runs, in words.
    pub accepts: &'static str,
    /// The collectives it does; asked for another, it never gets to plan.
    pub collectives: &'static [Collective],
    /// The parameters it takes, in the order in which specs name them.
    pub params: &'static [ParamInfo],
    /// The most messages that a node sends, and the most that it receives, in one step: 1 for a
    /// one-port algorithm, `u64::MAX` for one that uses all links at once, 0 to say nothing.
    /// `swapmeet check` holds the schedules to it.
    pub ports: u64,
}

impl About {
    /// An all-to-all algorithm that says nothing of itself; to be filled in.
    pub const DEFAULT: Self = Self {
        name: "",
        title: "",
        paper: "",
        accepts: "any topology",
        collectives: &[Collective::AllToAll],
        params: &[],
        ports: 0,
    };
}

/// An algorithm: rules that say who sends what to whom.
///
/// ```
/// use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Rehearsal, Schedule, Stop};
///
/// /// The root sends its block to everyone, one after another.
/// struct Tell;
///
/// impl Algorithm for Tell {
///     fn about(&self) -> About {
///         About { name: "tell", collectives: &[Collective::Broadcast], ports: 1, ..About::DEFAULT }
///     }
///
///     fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
///         match problem.topology().nodes() {
///             0..=1024 => Ok(()),
///             n => Err(Stop::unsupported(format!("{n} nodes would take all day, 1024 are the most"))),
///         }
///     }
///
///     fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
///         let root = problem.root();
///         for to in (0..problem.topology().nodes()).filter(|v| *v != root) {
///             schedule.step()?;
///             schedule.send(&Blocks::new(root, to).copy())?;
///         }
///         Ok(())
///     }
/// }
///
/// let steps = Rehearsal::on("ring", &[3]).collective(Collective::Broadcast, 1).plan(&Tell).unwrap();
/// assert_eq!(steps.iter().map(|step| step.sends[0].to).collect::<Vec<_>>(), [0, 2]);
/// let refused = Rehearsal::on("ring", &[5000]).collective(Collective::Broadcast, 0).plan(&Tell);
/// assert_eq!(refused.unwrap_err().to_string(), "5000 nodes would take all day, 1024 are the most");
/// ```
///
/// `plan` may be called many times, on different threads at once; the same problem must give the
/// same schedule.
pub trait Algorithm: Sync {
    /// What lists say of it.
    fn about(&self) -> About;

    /// Whether it can run.
    ///
    /// # Errors
    /// [`Stop::Unsupported`] with a reason a reader understands if it can't: it becomes the row's
    /// `reason`.
    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let _ = problem;
        Ok(())
    }

    /// Gives the schedule. Called only when `supports` said yes.
    ///
    /// # Errors
    /// [`Stop::Stopped`], passed on with `?`, when the host has refused a call; [`Stop::Failed`]
    /// where the algorithm itself is at its wits' end.
    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop>;
}

/// Exports the algorithms of a crate as a plugin: `export_plugin!(licence: "MIT OR Apache-2.0",
/// algorithms: [One, Two])`. Name and version are the crate's; each algorithm is a constant
/// expression of a type that implements [`Algorithm`].
#[macro_export]
macro_rules! export_plugin {
    (licence: $licence:expr, algorithms: [$($algorithm:expr),+ $(,)?] $(,)?) => {
        /// The plugin's one exported symbol.
        #[unsafe(no_mangle)]
        pub extern "C" fn swapmeet_plugin() -> *const $crate::abi::SwmPlugin {
            plugin_table()
        }

        /// The plugin's table, for programs that link the crate: of many plugins in one program,
        /// the symbol could be only one's.
        pub fn plugin_table() -> *const $crate::abi::SwmPlugin {
            static TABLE: ::std::sync::OnceLock<$crate::Exported> = ::std::sync::OnceLock::new();
            $crate::entry(
                &TABLE,
                env!("CARGO_PKG_NAME").trim_start_matches("swapmeet-plugin-"),
                env!("CARGO_PKG_VERSION"),
                $licence,
                &[$(&$algorithm),+],
            )
        }
    };
}

/// The table behind a plugin's entry, made at the first call.
pub struct Exported {
    plugin: SwmPlugin,
}

// SAFETY: everything the table points to is leaked, constant data.
unsafe impl Send for Exported {}
// SAFETY: as above.
unsafe impl Sync for Exported {}

/// Makes the table, once. What it points to is leaked: it must stay for the life of the process.
pub fn entry(
    table: &'static OnceLock<Exported>,
    name: &'static str,
    version: &'static str,
    licence: &'static str,
    algorithms: &[&'static dyn Algorithm],
) -> *const SwmPlugin {
    let made = table.get_or_init(|| {
        keep_panics_quiet();
        let algorithms: Vec<*const SwmAlgorithm> = algorithms
            .iter()
            .map(|a| std::ptr::from_ref(Box::leak(Box::new(describe_or_why(*a)))))
            .collect();
        let algorithms: &'static [*const SwmAlgorithm] = algorithms.leak();
        Exported {
            plugin: SwmPlugin {
                head: SwmHead {
                    magic: SWM_MAGIC,
                    abi_major: SWM_ABI_MAJOR,
                    abi_minor: SWM_ABI_MINOR,
                    size: size_of::<SwmPlugin>() as u32,
                    reserved: 0,
                },
                name: SwmStr::new(name),
                version: SwmStr::new(version),
                licence: SwmStr::new(licence),
                algorithms: algorithms.as_ptr(),
                algorithm_count: algorithms.len() as u64,
            },
        }
    });
    &raw const made.plugin
}

/// An algorithm that panics when it is asked what it is has no name and no functions; its title
/// says why.
fn describe_or_why(algorithm: &'static dyn Algorithm) -> SwmAlgorithm {
    catch_unwind(AssertUnwindSafe(|| describe(algorithm))).unwrap_or_else(|_| SwmAlgorithm {
        size: size_of::<SwmAlgorithm>() as u32,
        reserved: 0,
        name: SwmStr::EMPTY,
        title: SwmStr::new(panicked().leak()),
        paper: SwmStr::EMPTY,
        accepts: SwmStr::EMPTY,
        collectives: 0,
        params: std::ptr::null(),
        param_count: 0,
        user: std::ptr::null(),
        supports: None,
        plan: None,
        ports: 0,
    })
}

fn describe(algorithm: &'static dyn Algorithm) -> SwmAlgorithm {
    let about = algorithm.about();
    let params: Vec<*const SwmParamInfo> = about
        .params
        .iter()
        .map(|param| std::ptr::from_ref(Box::leak(Box::new(declare(param)))))
        .collect();
    let params: &'static [*const SwmParamInfo] = params.leak();
    let user: &'static &'static dyn Algorithm = Box::leak(Box::new(algorithm));
    SwmAlgorithm {
        size: size_of::<SwmAlgorithm>() as u32,
        reserved: 0,
        name: SwmStr::new(about.name),
        title: SwmStr::new(about.title),
        paper: SwmStr::new(about.paper),
        accepts: SwmStr::new(about.accepts),
        collectives: about.collectives.iter().map(|c| c.bit()).fold(0, |all, bit| all | bit),
        params: params.as_ptr(),
        param_count: params.len() as u64,
        user: std::ptr::from_ref(user).cast::<c_void>(),
        supports: Some(supports),
        plan: Some(plan),
        ports: about.ports,
    }
}

fn declare(param: &ParamInfo) -> SwmParamInfo {
    let values: &'static [SwmStr] =
        param.values.iter().map(|word| SwmStr::new(word)).collect::<Vec<_>>().leak();
    SwmParamInfo {
        size: size_of::<SwmParamInfo>() as u32,
        kind: param.kind,
        key: SwmStr::new(param.key),
        default_value: SwmStr::new(param.default),
        help: SwmStr::new(param.help),
        values: values.as_ptr(),
        value_count: values.len() as u64,
    }
}

unsafe extern "C" fn supports(
    a: *const SwmAlgorithm,
    p: *const SwmProblem,
    h: *const SwmHost,
) -> i32 {
    // SAFETY: the host passes back the table this module made, and structs valid for the call.
    unsafe { run(a, p, h, |algorithm, problem, _| algorithm.supports(problem)) }
}

unsafe extern "C" fn plan(a: *const SwmAlgorithm, p: *const SwmProblem, h: *const SwmHost) -> i32 {
    // SAFETY: as above.
    unsafe { run(a, p, h, |algorithm, problem, schedule| algorithm.plan(problem, schedule)) }
}

/// Calls `work` with safe views of the host's structs; a panic becomes an error with its message.
///
/// # Safety
/// The pointers must be those of a call through a table made by [`describe`].
unsafe fn run(
    algorithm: *const SwmAlgorithm,
    problem: *const SwmProblem,
    host: *const SwmHost,
    work: impl Fn(&dyn Algorithm, &Problem<'_>, &mut Schedule<'_>) -> Result<(), Stop>,
) -> i32 {
    // SAFETY: `user` is the leaked reference that `describe` put there; the host gives a table of
    // its own size.
    let (algorithm, host) =
        unsafe { (*(*algorithm).user.cast::<&'static dyn Algorithm>(), read_sized(host)) };
    // A host that nothing can be asked of can't be told either.
    let Ok(host) = host else { return SWM_ERROR };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: promised by the caller.
        let problem = unsafe { Problem::read(problem, &host, algorithm.about().params) }?;
        work(algorithm, &problem, &mut Schedule::new(&host, problem.topology().dims()))
    }));
    let (code, reason) = match outcome {
        Ok(Ok(())) => return SWM_OK,
        Ok(Err(Stop::Stopped)) => return SWM_STOPPED,
        Ok(Err(Stop::Unsupported(reason))) => (SWM_UNSUPPORTED, reason),
        Ok(Err(Stop::Failed(reason))) => (SWM_ERROR, reason),
        Ok(Err(Stop::Invalid(reason))) => (SWM_INVALID, reason),
        Err(_) => (SWM_ERROR, panicked()),
    };
    if let Some(fail) = host.fail {
        // SAFETY: the function and its context come from the host's table; `reason` outlives the
        // call.
        unsafe { fail(host.ctx, SwmStr::new(&reason)) };
    }
    code
}

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The panic just caught on this thread, as a reason.
fn panicked() -> String {
    format!("the plugin panicked: {}", LAST_PANIC.take())
}

/// A plugin has its own copy of std, whose default hook would write over the host's screen: keep
/// the message for the row instead.
fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|info| {
        let place =
            info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        let message = info.payload_as_str().unwrap_or("no message");
        LAST_PANIC.set(format!("{message}{place}"));
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_abi::SwmTopology;

    /// Does in `plan` whatever the name of its one parameter says.
    struct Moody;

    impl Algorithm for Moody {
        fn about(&self) -> About {
            const PARAMS: [ParamInfo; 2] =
                [ParamInfo::number("slices", "1", ""), ParamInfo::text("mood", "", "")];
            About { name: "moody", params: &PARAMS, ..About::DEFAULT }
        }

        fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
            problem.param::<u32>("slices").map(|_| ())
        }

        fn plan(&self, problem: &Problem<'_>, _: &mut Schedule<'_>) -> Result<(), Stop> {
            match problem.given::<String>("mood")?.as_deref() {
                Some("panic") => panic!("this is not my day"),
                Some("fail") => Err(Stop::failed("out of luck")),
                Some("stopped") => Err(Stop::Stopped),
                _ => Ok(()),
            }
        }
    }

    unsafe extern "C" fn hear(ctx: *mut c_void, reason: SwmStr) {
        // SAFETY: `call` below passes a String, and the reason is valid during the call.
        unsafe { (*ctx.cast::<String>()).push_str(std::str::from_utf8(reason.bytes()).unwrap()) };
    }

    /// Calls through the exported table as a host would; what it returned and the reason it gave.
    fn call(key: &str, value: &str) -> (i32, String) {
        static TABLE: OnceLock<Exported> = OnceLock::new();
        let plugin = entry(&TABLE, "moods", "1.2.3", "MIT", &[&Moody]);
        let mut reason = String::new();
        // SAFETY: the table is the one just made; everything else lives until the calls are over.
        unsafe {
            assert_eq!(((*plugin).head.magic, (*plugin).algorithm_count), (SWM_MAGIC, 1));
            let algorithm = *(*plugin).algorithms;
            let mut host: SwmHost = std::mem::zeroed();
            host.size = size_of::<SwmHost>() as u32;
            host.ctx = (&raw mut reason).cast();
            host.fail = Some(hear);
            let mut topology: SwmTopology = std::mem::zeroed();
            topology.size = size_of::<SwmTopology>() as u32;
            topology.nodes = 4;
            let param = swapmeet_abi::SwmParam { key: SwmStr::new(key), value: SwmStr::new(value) };
            let mut problem: SwmProblem = std::mem::zeroed();
            problem.size = size_of::<SwmProblem>() as u32;
            problem.topology = &raw const topology;
            problem.params = &raw const param;
            problem.param_count = 1;
            let supported =
                ((*algorithm).supports.unwrap())(algorithm, &raw const problem, &raw const host);
            if supported != SWM_OK {
                return (supported, reason);
            }
            (((*algorithm).plan.unwrap())(algorithm, &raw const problem, &raw const host), reason)
        }
    }

    #[test]
    fn a_panic_becomes_an_error_with_its_message_and_place() {
        let (code, reason) = call("mood", "panic");
        assert_eq!(code, SWM_ERROR);
        assert!(reason.starts_with("the plugin panicked: this is not my day ("), "{reason}");
        assert!(reason.contains("export.rs:"), "{reason}");
    }

    /// Does not even know its name.
    struct Lost;

    impl Algorithm for Lost {
        fn about(&self) -> About {
            panic!("who am I?")
        }

        fn plan(&self, _: &Problem<'_>, _: &mut Schedule<'_>) -> Result<(), Stop> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_of_about_is_said_where_the_title_would_be() {
        static TABLE: OnceLock<Exported> = OnceLock::new();
        let plugin = entry(&TABLE, "moods", "1.2.3", "MIT", &[&Moody, &Lost]);
        // SAFETY: the table is the one just made.
        let (name, lost) = unsafe {
            assert_eq!((*plugin).algorithm_count, 2);
            ((**(*plugin).algorithms).name.bytes(), **(*plugin).algorithms.add(1))
        };
        // SAFETY: as above.
        let title = String::from_utf8_lossy(unsafe { lost.title.bytes() });
        assert_eq!((name, lost.name.len, lost.plan.is_none()), (&b"moody"[..], 0, true));
        assert!(title.starts_with("the plugin panicked: who am I? ("), "{title}");
    }

    #[test]
    fn refusals_carry_their_reason() {
        assert_eq!(call("mood", "fine"), (SWM_OK, String::new()));
        assert_eq!(call("mood", "fail"), (SWM_ERROR, "out of luck".to_owned()));
        assert_eq!(call("mood", "stopped"), (SWM_STOPPED, String::new()));
        assert_eq!(
            call("slices", "many"),
            (SWM_ERROR, "`slices=many`: expected a whole number".to_owned())
        );
    }
}
