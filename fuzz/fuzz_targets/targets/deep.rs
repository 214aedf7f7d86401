//! A thread with the stack that the scanner gives its own.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::Mutex;

type Job = Box<dyn FnOnce() + Send>;

/// As in `misdeal_scan`.
const STACK: usize = 512 << 20;

/// Runs a job on that thread and waits for it. A panic ends the process, as anywhere while fuzzing.
pub fn on_a_deep_stack(job: Job) {
    static WORKER: OnceLock<Mutex<(SyncSender<Job>, Receiver<()>)>> = OnceLock::new();
    let worker = WORKER.get_or_init(|| {
        let (jobs, inbox) = sync_channel::<Job>(0);
        let (done, outcomes) = sync_channel(0);
        let work = move || {
            for job in inbox {
                job();
                let _ = done.send(());
            }
        };
        std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread starts");
        Mutex::new((jobs, outcomes))
    });
    let worker = worker.lock().expect("nobody panics while holding this");
    worker.0.send(job).expect("the thread lives");
    worker.1.recv().expect("the thread lives");
}
