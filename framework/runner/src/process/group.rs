use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub struct ProcessGroup(Child);

impl ProcessGroup {
    /// Starts a process in a process group of its own. Ctrl-C then signals only this program, which
    /// ends its child processes.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        command.process_group(0).spawn().map(Self)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    /// Waits until the process ends. If the time limit is reached or `stop` is set, ends the
    /// process group and returns `None`.
    pub fn wait(
        &mut self,
        limit: Option<Duration>,
        stop: &AtomicBool,
    ) -> io::Result<Option<ExitStatus>> {
        const SLICE: Duration = Duration::from_millis(5);
        /// The time that the process gets for a clean exit before it is killed.
        const CLEARING: Duration = Duration::from_secs(2);
        let begin = Instant::now();
        let is_late = || limit.is_some_and(|limit| begin.elapsed() >= limit);
        loop {
            if let Some(status) = self.try_wait()? {
                return Ok(Some(status));
            }
            if stop.load(Ordering::Relaxed) || is_late() {
                break;
            }
            std::thread::sleep(SLICE);
        }
        self.signal(Signal::TERM);
        let asked = Instant::now();
        while self.try_wait()?.is_none() && asked.elapsed() < CLEARING {
            std::thread::sleep(SLICE);
        }
        self.kill();
        Ok(None)
    }

    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
