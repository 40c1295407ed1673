// SPDX-License-Identifier: MIT
//! As peers.py says, for Rust: tokio's processes and this package's.

use std::process::Stdio;
use std::time::{Duration, Instant};

async fn read_all(mut from: impl tokio::io::AsyncRead + Unpin) -> Vec<u8> {
    let mut output = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut from, &mut output).await.unwrap();
    output
}

macro_rules! started {
    ($command:ty, $start:ident, $null:expr, $piped:expr, $program:expr) => {{
        let mut command = <$command>::new($program);
        command.stdin($null).stdout($piped).stderr($null);
        let begin = Instant::now();
        let mut child = command.$start().unwrap();
        let blocked = begin.elapsed();
        let output = read_all(child.stdout.take().unwrap()).await;
        child.wait().await.unwrap();
        (blocked, output)
    }};
}

/// How long the start of the program blocks its caller, and the output.
async fn once(way: &str, program: &str) -> (Duration, Vec<u8>) {
    if way == "tokio" {
        started!(tokio::process::Command, spawn, Stdio::null(), Stdio::piped(), program)
    } else {
        started!(
            aspawn::tokio::Command,
            start,
            aspawn::Stdio::null(),
            aspawn::Stdio::piped(),
            program
        )
    }
}

async fn blocked(way: &str, program: &str, count: i32, seconds: f64) {
    let queue = (way == "queue").then(|| aspawn::tokio::Queue::new().unwrap());
    let mut begin = Instant::now();
    for number in -20..count {
        if number == 0 {
            begin = Instant::now();
        } else if number > 0 && begin.elapsed().as_secs_f64() > seconds {
            break;
        }
        let took = match &queue {
            None => once(way, program).await.0,
            Some(queue) => {
                let job = aspawn::Command::new(program);
                let at = Instant::now();
                queue.submit(&aspawn::queue::Job::new(&job).stdout(4096)).unwrap();
                let took = at.elapsed();
                queue.next().await.unwrap().unwrap();
                took
            }
        };
        if number >= 0 {
            println!("{:.1}", took.as_secs_f64() * 1e6);
        }
    }
}

async fn rate(way: &'static str, program: &'static str, seconds: f64) {
    let begin = Instant::now();
    let ends = move || begin.elapsed().as_secs_f64() > seconds;
    let mut done = 0;
    if way == "queue" {
        let queue = aspawn::tokio::Queue::new().unwrap();
        for _ in 0..16 {
            queue
                .submit(&aspawn::queue::Job::new(&aspawn::Command::new(program)).stdout(4096))
                .unwrap();
        }
        while let Some(outcome) = queue.next().await.unwrap() {
            assert_eq!(outcome.stdout, b"text\n");
            done += 1;
            if !ends() {
                queue
                    .submit(&aspawn::queue::Job::new(&aspawn::Command::new(program)).stdout(4096))
                    .unwrap();
            }
        }
    } else {
        let workers: Vec<_> = (0..16)
            .map(|_| {
                tokio::spawn(async move {
                    let mut done = 0;
                    while !ends() {
                        assert_eq!(once(way, program).await.1, b"text\n");
                        done += 1;
                    }
                    done
                })
            })
            .collect();
        for worker in workers {
            done += worker.await.unwrap();
        }
    }
    println!("{:.1}", f64::from(done) / begin.elapsed().as_secs_f64());
}

#[tokio::main]
async fn main() {
    let words: &'static Vec<String> = Box::leak(Box::new(std::env::args().skip(1).collect()));
    let (way, program, seconds) = (&words[0], &words[2], words[4].parse().unwrap());
    let touched = vec![1u8; words[5].parse::<usize>().unwrap() << 20];
    if words[1] == "blocked" {
        blocked(way, program, words[3].parse().unwrap(), seconds).await;
    } else {
        rate(way, program, seconds).await;
    }
    assert!(touched.iter().step_by(4096).all(|byte| *byte == 1));
}
