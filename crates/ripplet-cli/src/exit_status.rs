//! The exit codes of the command, in one place: `docs/exit-codes.md` and the manual list the same.

/// The exit status of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// The command succeeded.
    #[default]
    Done = 0,
    /// The run failed, through no fault of the arguments or the input.
    Failed = 1,
    /// The arguments or the input are wrong.
    Wrong = 2,
    /// The command is done, but for inputs that were skipped.
    Skipped = 3,
    /// SIGHUP ended the process.
    HungUp = 129,
    /// SIGINT ended the process.
    Interrupted = 130,
    /// The program that reads the standard output has stopped reading.
    Unread = 141,
    /// SIGTERM ended the process.
    Terminated = 143,
}

impl ExitStatus {
    /// All exit statuses, by code.
    pub const ALL: [ExitStatus; 8] = [
        ExitStatus::Done,
        ExitStatus::Failed,
        ExitStatus::Wrong,
        ExitStatus::Skipped,
        ExitStatus::HungUp,
        ExitStatus::Interrupted,
        ExitStatus::Unread,
        ExitStatus::Terminated,
    ];

    /// Returns the code that the system gets.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the status of a code; [`ExitStatus::Failed`] if none has it.
    pub fn of(code: u8) -> ExitStatus {
        let known = ExitStatus::ALL.into_iter().find(|status| status.code() == code);
        known.unwrap_or(ExitStatus::Failed)
    }

    /// Returns its description in the manual.
    pub fn meaning(self) -> &'static str {
        match self {
            ExitStatus::Done => "Done. All outputs are written.",
            ExitStatus::Failed => {
                "The run failed: memory, a disk, a GPU or a server, or a result that differs from \
                 its reference. The same command may succeed later."
            }
            ExitStatus::Wrong => {
                "The arguments or the input are wrong. The same command fails again."
            }
            ExitStatus::Skipped => {
                "Done, without the files or rows that could not be read and that an option said to \
                 skip. They are listed on standard error."
            }
            ExitStatus::HungUp => "SIGHUP ended the command: its terminal is gone.",
            ExitStatus::Interrupted => "SIGINT ended the command: Ctrl-C.",
            ExitStatus::Unread => "The program behind a pipe, such as `head`, has stopped reading.",
            ExitStatus::Terminated => "SIGTERM ended the command: `kill`.",
        }
    }
}
