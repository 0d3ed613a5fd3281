//! Export of Rust algorithms as a plugin: the trait [`Algorithm`], the macro `export_plugin!`, and
//! the C functions that the host calls.

use crate::collective::Collective;
use crate::param::ParamInfo;
use crate::problem::Problem;
use crate::schedule::Schedule;
use crate::stop::Stop;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Once, OnceLock};
use swapmeet_abi::{
    SWM_ABI_MAJOR, SWM_ABI_MINOR, SWM_ERROR, SWM_INVALID, SWM_MAGIC, SWM_OK, SWM_STOPPED,
    SWM_UNSUPPORTED, SwmAlgorithm, SwmHead, SwmHost, SwmParamInfo, SwmPlugin, SwmProblem, SwmRun,
    SwmStr, read_sized,
};

/// The description of an algorithm, as the lists of algorithms show it.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Name that users type: lower-case letters, digits and hyphens.
    pub name: &'static str,
    /// Title for lists of algorithms, at most about 60 characters.
    pub title: &'static str,
    /// Publication: authors, title, year.
    pub paper: &'static str,
    /// Supported topologies and sizes, in words.
    pub accepts: &'static str,
    /// Supported collectives. The host calls the algorithm for no others.
    pub collectives: &'static [Collective],
    /// The parameters of the algorithm, in the order in which specs name them.
    pub params: &'static [ParamInfo],
    /// The port promise: the largest number of messages that a node sends, or receives, in one
    /// step. It is `u64::MAX` for an algorithm that may use all links of a node in the same step,
    /// and 0 for no promise. `swapmeet check` compares the schedules with it. The port limit of the
    /// machine is [`Problem::ports`].
    pub ports: u64,
}

impl About {
    /// An all-to-all algorithm with empty texts, for struct update syntax (`..About::DEFAULT`).
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

/// An algorithm. It decides which blocks each node sends in each step.
///
/// ```
/// use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Rehearsal, Schedule, Stop};
///
/// /// The root sends its block to the other nodes, one after another.
/// struct OneByOne;
///
/// impl Algorithm for OneByOne {
///     fn about(&self) -> About {
///         About { name: "one-by-one", collectives: &[Collective::Broadcast], ports: 1, ..About::DEFAULT }
///     }
///
///     fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
///         match problem.topology().nodes() {
///             0..=1024 => Ok(()),
///             n => Err(Stop::unsupported(format!("{n} nodes need too many steps; the limit is 1024"))),
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
/// let steps = Rehearsal::on("ring", &[3]).collective(Collective::Broadcast, 1).plan(&OneByOne).unwrap();
/// assert_eq!(steps.iter().map(|step| step.sends[0].to).collect::<Vec<_>>(), [0, 2]);
/// let refused = Rehearsal::on("ring", &[5000]).collective(Collective::Broadcast, 0).plan(&OneByOne);
/// assert_eq!(refused.unwrap_err().to_string(), "5000 nodes need too many steps; the limit is 1024");
/// ```
///
/// The host may call `plan` many times, also on several threads at the same time. The same problem
/// must always give the same schedule.
pub trait Algorithm: Sync {
    /// Returns the description of the algorithm.
    fn about(&self) -> About;

    /// Checks whether the algorithm can run on a problem. If it cannot, this method returns
    /// [`Stop::Unsupported`] with a reason for users who do not know the source code. `plan` can
    /// return the same error instead. By default, the algorithm can run on every problem.
    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let _ = problem;
        Ok(())
    }

    /// Passes the steps and sends of the schedule to `schedule`. The host calls it only if
    /// `supports` returned `Ok`. Returns [`Stop::Stopped`] (with `?`) if the host has refused a
    /// call, [`Stop::Unsupported`] as in `supports`, or [`Stop::Failed`] if the algorithm cannot
    /// continue.
    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop>;
}

/// Exports the algorithms of a crate as a plugin with the name and version of the crate:
/// `export_plugin!(licence: "MIT OR Apache-2.0", algorithms: [One, Two])`. Each algorithm is a
/// constant expression whose type implements [`Algorithm`].
#[macro_export]
macro_rules! export_plugin {
    (licence: $licence:expr, algorithms: [$($algorithm:expr),+ $(,)?] $(,)?) => {
        /// Returns the plugin's table. The plugin exports no other symbol.
        #[unsafe(no_mangle)]
        pub extern "C" fn swapmeet_plugin() -> *const $crate::abi::SwmPlugin {
            plugin_table()
        }

        /// Returns the plugin's table. Programs that link several plugins statically use this
        /// function, because the exported symbol has the same name in every plugin.
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

/// The table of a plugin, made at the first call of [`entry`].
pub struct Exported {
    plugin: SwmPlugin,
}

// SAFETY: the table points only to leaked, constant data.
unsafe impl Send for Exported {}
// SAFETY: the table points only to leaked, constant data.
unsafe impl Sync for Exported {}

/// Returns the table. Its data is leaked, because it must stay valid for the life of the process.
pub fn entry(
    table: &'static OnceLock<Exported>,
    name: &'static str,
    version: &'static str,
    licence: &'static str,
    algorithms: &[&'static dyn Algorithm],
) -> *const SwmPlugin {
    let exported = table.get_or_init(|| {
        capture_panics();
        let algorithms: Vec<*const SwmAlgorithm> = algorithms
            .iter()
            .map(|a| std::ptr::from_ref(Box::leak(Box::new(describe(*a)))))
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
    &raw const exported.plugin
}

/// Returns the table entry of an algorithm. If `about` panics, the entry has neither a name nor
/// functions, and its title is the panic message.
fn describe(algorithm: &'static dyn Algorithm) -> SwmAlgorithm {
    let about = caught(|| algorithm.about());
    let is_described = about.is_ok();
    let about = about.unwrap_or_else(|why| About { title: why.leak(), ..About::DEFAULT });
    let params: &'static [*const SwmParamInfo] = about
        .params
        .iter()
        .map(|param| std::ptr::from_ref(Box::leak(Box::new(describe_param(param)))))
        .collect::<Vec<_>>()
        .leak();
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
        supports: is_described.then_some(supports as SwmRun),
        plan: is_described.then_some(plan as SwmRun),
        ports: about.ports,
    }
}

fn describe_param(param: &ParamInfo) -> SwmParamInfo {
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
    // SAFETY: the host passes back a table made by this module, and structs valid for the call.
    unsafe { run(a, p, h, |algorithm, problem, _| algorithm.supports(problem)) }
}

unsafe extern "C" fn plan(a: *const SwmAlgorithm, p: *const SwmProblem, h: *const SwmHost) -> i32 {
    // SAFETY: the host passes back a table made by this module, and structs valid for the call.
    unsafe { run(a, p, h, |algorithm, problem, schedule| algorithm.plan(problem, schedule)) }
}

/// Calls `work` with safe views of the host's structs. If `work` panics, the host receives the
/// message of the panic as the reason of the failure.
///
/// # Safety
///
/// The pointers must be those that the host passed to a function of a table made by [`describe`].
unsafe fn run(
    algorithm: *const SwmAlgorithm,
    problem: *const SwmProblem,
    host: *const SwmHost,
    work: impl Fn(&dyn Algorithm, &Problem<'_>, &mut Schedule<'_>) -> Result<(), Stop>,
) -> i32 {
    // SAFETY: `user` is the leaked reference that `describe` stored; the table states its size.
    let (algorithm, host) =
        unsafe { (*(*algorithm).user.cast::<&'static dyn Algorithm>(), read_sized(host)) };
    // Without a readable table of the host, there is no function to report the reason.
    let Ok(host) = host else { return SWM_ERROR };
    let outcome = caught(|| {
        // SAFETY: the caller guarantees that the pointer comes from a call of the host.
        let problem = unsafe { Problem::read(problem, &host, algorithm.about().params) }?;
        work(algorithm, &problem, &mut Schedule::new(&host, problem.topology().dims()))
    });
    let (code, reason) = match outcome {
        Ok(Ok(())) => return SWM_OK,
        Ok(Err(Stop::Stopped)) => return SWM_STOPPED,
        Ok(Err(Stop::Unsupported(reason))) => (SWM_UNSUPPORTED, reason),
        Ok(Err(Stop::Failed(reason))) => (SWM_ERROR, reason),
        Ok(Err(Stop::Invalid(reason))) => (SWM_INVALID, reason),
        Err(why) => (SWM_ERROR, why),
    };
    if let Some(fail) = host.fail {
        // SAFETY: function and context come from the host's table; `reason` outlives the call.
        unsafe { fail(host.ctx, SwmStr::new(&reason)) };
    }
    code
}

thread_local! {
    /// Whether code of the algorithm is running on this thread. The panic hook then stores its
    /// panics.
    static IN_ALGORITHM: Cell<bool> = const { Cell::new(false) };
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    let was_inside = IN_ALGORITHM.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IN_ALGORITHM.set(was_inside);
    result.map_err(|_| format!("the plugin panicked: {}", LAST_PANIC.take()))
}

/// Installs a panic hook that stores the message for the result row. Each plugin file has its own
/// copy of std, whose default hook would print to the terminal. If a plugin is linked into a
/// program, both use the same hook, so all other panics are passed on to the previous hook.
fn capture_panics() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let other = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IN_ALGORITHM.get() {
                return other(info);
            }
            let location = info.location().map(|l| format!(" ({}:{})", l.file(), l.line()));
            let message = info.payload_as_str().unwrap_or("no message");
            LAST_PANIC.set(format!("{message}{}", location.unwrap_or_default()));
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Disproof, Rehearsal};

    struct Scripted;

    impl Algorithm for Scripted {
        fn about(&self) -> About {
            const PARAMS: [ParamInfo; 2] =
                [ParamInfo::number("slices", "1", ""), ParamInfo::text("outcome", "", "")];
            About { name: "scripted", params: &PARAMS, ..About::DEFAULT }
        }

        fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
            problem.param::<u32>("slices").map(|_| ())
        }

        fn plan(&self, problem: &Problem<'_>, _: &mut Schedule<'_>) -> Result<(), Stop> {
            match problem.given::<String>("outcome")?.as_deref() {
                Some("panic") => panic!("out of range"),
                Some("fail") => Err(Stop::failed("no memory")),
                Some("stopped") => Err(Stop::Stopped),
                _ => Ok(()),
            }
        }
    }

    fn call(key: &str, value: &str) -> Result<(), Disproof> {
        static TABLE: OnceLock<Exported> = OnceLock::new();
        let plugin = entry(&TABLE, "scripted-plugin", "1.2.3", "MIT", &[&Scripted]);
        let problem = Rehearsal::on("ring", &[1]).param(key, value);
        // SAFETY: the table was just created.
        unsafe {
            assert_eq!(((*plugin).head.magic, (*plugin).algorithm_count), (SWM_MAGIC, 1));
            problem.verify_table(*(*plugin).algorithms).map(|_| ())
        }
    }

    #[test]
    fn errors_and_panics_carry_their_reason() {
        let failed = |reason: &str| Err(Disproof::Stopped(Stop::failed(reason)));
        assert_eq!(call("outcome", "fine"), Ok(()));
        assert_eq!(call("outcome", "fail"), failed("no memory"));
        assert_eq!(call("outcome", "stopped"), Err(Disproof::Stopped(Stop::Stopped)));
        assert_eq!(call("slices", "many"), failed("`slices=many`: expected a whole number"));
        let panicked = call("outcome", "panic").unwrap_err().to_string();
        assert!(panicked.starts_with("the plugin panicked: out of range ("), "{panicked}");
        assert!(panicked.contains("export.rs:"), "{panicked}");
    }

    struct Nameless;

    impl Algorithm for Nameless {
        fn about(&self) -> About {
            panic!("no description")
        }

        fn plan(&self, _: &Problem<'_>, _: &mut Schedule<'_>) -> Result<(), Stop> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_in_about_becomes_the_title() {
        static TABLE: OnceLock<Exported> = OnceLock::new();
        let plugin = entry(&TABLE, "scripted-plugin", "1.2.3", "MIT", &[&Scripted, &Nameless]);
        // SAFETY: the table is the one just made.
        let (name, nameless) = unsafe {
            assert_eq!((*plugin).algorithm_count, 2);
            ((**(*plugin).algorithms).name.bytes(), **(*plugin).algorithms.add(1))
        };
        // SAFETY: the title is a text of the table that was just made.
        let title = String::from_utf8_lossy(unsafe { nameless.title.bytes() });
        assert_eq!((name, nameless.name.len, nameless.plan.is_none()), (&b"scripted"[..], 0, true));
        assert!(title.starts_with("the plugin panicked: no description ("), "{title}");
    }
}
