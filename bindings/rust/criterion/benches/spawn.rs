// SPDX-License-Identifier: MIT
//! How long the caller is blocked by the start of /bin/true: std and this library in turns, in a
//! process that has touched 0 and 1 GiB. The wait for the child is not counted.

use criterion::{criterion_group, criterion_main, Criterion};
use std::time::{Duration, Instant};

macro_rules! blocked {
    ($group:expr, $name:expr, $new:expr, $start:ident) => {
        $group.bench_function($name, |bencher| {
            bencher.iter_custom(|count| {
                let mut blocked = Duration::ZERO;
                for _ in 0..count {
                    let mut command = $new;
                    let begin = Instant::now();
                    let mut child = command.$start().unwrap();
                    blocked += begin.elapsed();
                    child.wait().unwrap();
                }
                blocked
            })
        });
    };
}

macro_rules! three {
    ($criterion:expr, $size:expr, $what:expr, |$command:ident| $change:expr) => {
        let mut group = $criterion.benchmark_group(format!("{}, {} GiB", $what, $size));
        macro_rules! command {
            ($type:ty) => {{
                let mut $command = <$type>::new("/bin/true");
                $change;
                $command
            }};
        }
        blocked!(group, "std spawn", command!(std::process::Command), spawn);
        blocked!(group, "aspawn spawn", command!(aspawn::Command), spawn);
        blocked!(group, "aspawn start", command!(aspawn::Command), start);
        group.finish();
    };
}

fn spawn(criterion: &mut Criterion) {
    #[allow(unused_imports)]
    use std::os::unix::process::CommandExt;

    let mut memory: Vec<u8> = Vec::new();
    for size in [0usize, 1] {
        memory.resize(size << 30, 1);
        std::hint::black_box(&memory);
        three!(criterion, size, "plain", |_command| ());
        three!(criterion, size, "current_dir", |command| command.current_dir("/"));
        three!(criterion, size, "uid", |command| command.uid(65534));
        three!(criterion, size, "pre_exec", |command| unsafe { command.pre_exec(|| Ok(())) });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(15)
        .nresamples(2000)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(700))
        .without_plots();
    targets = spawn
}
criterion_main!(benches);
