// SPDX-License-Identifier: MIT
//! A child in tokio, where the library does not work: tokio's own. What tokio has not is an error.
#![allow(missing_docs)] // docs.rs has those of Linux

use std::io;
use std::marker::PhantomData;
use std::process::ExitStatus;
use std::time::Duration;

pub use ::tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::Tokio;
use crate::consts::{SIGKILL, SIGTERM};
use crate::elsewhere::send;
pub(super) use crate::elsewhere::timed_out;
use crate::spec::{Limits, Stream};
use crate::{CommandOf, Error, Result, Step, Terminal, Usage};

#[derive(Debug)]
pub struct Child<E = Error> {
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    pub terminal: Option<Terminal>,
    child: ::tokio::process::Child,
    pub(super) limits: Limits,
    leads_group: bool,
    error: PhantomData<fn() -> E>,
}

pub(crate) fn failed(error: io::Error) -> Error {
    Error::of_std(Step::Run, &error)
}

impl<E: From<Error>> CommandOf<Tokio<E>> {
    pub fn start(&mut self) -> Result<Child<E>, E> {
        self.spawn()
    }

    pub fn spawn(&mut self) -> Result<Child<E>, E> {
        let mut command = ::tokio::process::Command::from(self.to_std([Stream::Inherit; 3])?);
        let child = command.kill_on_drop(self.kill_on_drop).spawn();
        let mut child = child.map_err(|error| self.not_started(&error))?;
        Ok(Child {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            terminal: None,
            child,
            limits: self.limits,
            leads_group: self.leads_group(),
            error: PhantomData,
        })
    }

    pub async fn spawn_async(&mut self) -> Result<Child<E>, E> {
        self.spawn()
    }
}

impl<E: From<Error>> Child<E> {
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    pub async fn wait(&mut self) -> Result<ExitStatus, E> {
        drop(self.stdin.take());
        Ok(self.child.wait().await.map_err(failed)?)
    }

    pub async fn wait_with_usage(&mut self) -> Result<(ExitStatus, Usage), E> {
        Err(Error::unsupported("wait_with_usage").into())
    }

    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>, E> {
        Ok(self.child.try_wait().map_err(failed)?)
    }

    pub(super) fn terminate(&mut self, kills: bool) -> Result<()> {
        self.send(if kills { SIGKILL } else { SIGTERM }, self.limits.kill_group)
    }

    pub(super) async fn ended(&mut self) -> Result<()> {
        self.child.wait().await.map(drop).map_err(failed)
    }

    pub(super) fn send(&mut self, signal: i32, to_group: bool) -> Result<()> {
        let to_group = to_group && self.leads_group;
        self.child.id().map_or(Ok(()), |id| send(id, signal, to_group, || self.child.start_kill()))
    }

    pub fn kill_tree(&mut self, _: Option<Duration>) -> Result<(), E> {
        Err(Error::unsupported("kill_tree").into())
    }
}

#[derive(Debug)]
pub(crate) enum Watched {}

pub(crate) fn watch_queue(_: &crate::Queue) -> Result<Watched> {
    Err(Error::unsupported("Queue"))
}
