// SPDX-License-Identifier: MIT
//! How long a start of /bin/true blocks its caller while every processor is busy, median / 95th
//! percentile in microseconds: std and this crate in turns, in a process that has touched 0 and 1
//! GiB. The wait for the child is not counted. As root, for the rows with a user.
//! `cargo bench -- 50` is for fewer rounds.

use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

type Start = fn() -> Duration;

macro_rules! start {
    ($command:ty, $start:ident $(, $method:ident($argument:expr))?) => {
        || {
            let mut command = <$command>::new("/bin/true");
            #[allow(unused_unsafe)]
            unsafe {
                let _ = &mut command $(.$method($argument))?;
            }
            let begin = Instant::now();
            let mut child = command.$start().unwrap();
            let blocked = begin.elapsed();
            child.wait().unwrap();
            blocked
        }
    };
}

macro_rules! row {
    ($name:expr $(, $method:ident($argument:expr))?) => {
        ($name, [
            Some(start!(std::process::Command, spawn $(, $method($argument))?)),
            Some(start!(aspawn::Command, spawn $(, $method($argument))?)),
            Some(start!(aspawn::Command, start $(, $method($argument))?)),
        ])
    };
}

fn main() {
    let rounds = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(200);
    let rows: [(&str, [Option<Start>; 3]); 4] = [
        row!("nothing else"),
        (
            "private",
            [
                None,
                Some(start!(aspawn::Command, spawn, owner(aspawn::Owner::Private))),
                Some(start!(aspawn::Command, start, owner(aspawn::Owner::Private))),
            ],
        ),
        row!("`uid`", uid(65534)),
        row!("`pre_exec`", pre_exec(|| Ok(()))),
    ];
    let mut busy = aspawn::Command::new("sh");
    busy.args(["-c", "while :; do :; done"]).dies_with_caller(true).kill_on_drop(true);
    let processors = std::thread::available_parallelism().unwrap().get();
    let _busy: Vec<_> = (0..processors).map(|_| busy.start().unwrap()).collect();

    println!("| blocked, us: median / p95 | std `spawn` | `spawn` | `start` |");
    println!("| --- | ---: | ---: | ---: |");
    let mut memory: Vec<u8> = Vec::new();
    for size in [0usize, 1] {
        memory.resize(size << 30, 1);
        assert!(memory.iter().step_by(4096).all(|byte| *byte == 1));
        let mut times = [[(); 3]; 4].map(|row| row.map(|_| Vec::new()));
        for _ in 0..rounds {
            for (row, times) in rows.iter().zip(&mut times) {
                for (start, times) in row.1.iter().zip(times) {
                    times.extend(start.map(|start| start()));
                }
            }
        }
        for (row, times) in rows.iter().zip(times) {
            print!("| {} GiB touched, {} |", size, row.0);
            for mut times in times {
                times.sort_unstable();
                match times.len() {
                    0 => print!(" |"),
                    count => print!(
                        " {} / {} |",
                        times[count / 2].as_micros(),
                        times[count * 95 / 100].as_micros()
                    ),
                }
            }
            println!();
        }
    }
}
