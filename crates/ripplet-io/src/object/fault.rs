//! Sentences about requests that fail. They have nothing of an answer but its status and the code of its error.

use object_store::Error;
use object_store::client::{HttpError, HttpErrorKind};
use std::io::{self, ErrorKind};
use std::ops::Range;

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Returns an error of reading as a sentence with advice; its kind says whether the same request may succeed later.
pub(super) fn io_error(error: &Error, scheme: &str) -> io::Error {
    error_of(error, scheme, Access::Read)
}

/// Returns an error of writing, as [`io_error`] does.
pub(super) fn write_error(error: &Error, scheme: &str) -> io::Error {
    error_of(error, scheme, Access::Write)
}

fn error_of(error: &Error, scheme: &str, access: Access) -> io::Error {
    let place = Variables::of(scheme, access);
    let text = error.to_string();
    // The errors of lists have a status only.
    let status = match error {
        Error::NotFound { .. } => Some(404),
        Error::PermissionDenied { .. } => Some(403),
        Error::Unauthenticated { .. } => Some(401),
        _ => status_of(&text),
    };
    let code = code_of(&text).map(|code| format!(" ({code})")).unwrap_or_default();
    let (kind, sentence) = match error {
        Error::Precondition { .. } | Error::NotModified { .. } if access == Access::Read => {
            return changed();
        }
        _ => match (http_kind(error), status) {
            (_, status) if is_of_credentials(&text, status) => (
                ErrorKind::PermissionDenied,
                format!("there are no credentials: {}", place.credentials),
            ),
            (Some(HttpErrorKind::Connect), _) if is_of_certificate(error) => {
                let sentence = "the server's certificate is not trusted: set SSL_CERT_FILE to the file of its authority";
                (ErrorKind::PermissionDenied, sentence.into())
            }
            (Some(HttpErrorKind::Connect), _) => {
                let sentence = format!("the server cannot be reached{}", place.where_to_look);
                (ErrorKind::HostUnreachable, sentence)
            }
            (Some(HttpErrorKind::Timeout), _) => {
                let sentence = "the server does not answer in time: try again later";
                (ErrorKind::TimedOut, sentence.into())
            }
            (Some(_), _) => {
                let sentence = "the connection to the server ended in the middle of an answer: try again later";
                (ErrorKind::ConnectionAborted, sentence.into())
            }
            (None, Some(404)) => {
                let sentence = format!("there is no such {}{}", place.missing, place.where_to_look);
                (ErrorKind::NotFound, sentence)
            }
            (None, Some(401 | 403)) => {
                let sentence = format!("the server refuses access{code}: {}", place.credentials);
                (ErrorKind::PermissionDenied, sentence)
            }
            (None, Some(status @ (500.. | 429))) => {
                let sentence =
                    format!("the server failed with status {status}{code}: try again later");
                (ErrorKind::ConnectionAborted, sentence)
            }
            (None, Some(status)) => {
                let refused = format!("the server refuses the request with status {status}{code}");
                (ErrorKind::InvalidData, format!("{refused}: {}", place.settings))
            }
            (None, None) if text.contains("redirect") => {
                let sentence = format!("the bucket is elsewhere: {}", place.settings);
                (ErrorKind::InvalidData, sentence)
            }
            (None, None) if text.to_ascii_lowercase().contains("range") => {
                let sentence = "the server sends whole files only, not ranges: download the file";
                (ErrorKind::Unsupported, sentence.into())
            }
            (None, None) => {
                let sentence = "the server's answer is none of object storage: check the address, and whether a proxy \
                                changes answers";
                (ErrorKind::InvalidData, sentence.into())
            }
        },
    };
    io::Error::new(kind, sentence)
}

/// The advice on the settings of a storage.
struct Variables {
    missing: &'static str,
    credentials: &'static str,
    settings: &'static str,
    where_to_look: &'static str,
}

impl Variables {
    fn of(scheme: &str, access: Access) -> Variables {
        let reads = access == Access::Read;
        let missing = if reads { "object or bucket" } else { "bucket" };
        match scheme {
            "s3" | "s3a" => Variables {
                missing,
                credentials: match access {
                    Access::Read => {
                        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of a user who may read it, or \
                         AWS_SKIP_SIGNATURE=true if it is public"
                    }
                    Access::Write => {
                        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of a user who may write it"
                    }
                },
                settings: "check AWS_REGION and AWS_ENDPOINT_URL",
                where_to_look: ": check the name, and AWS_ENDPOINT_URL if the server is not that of AWS",
            },
            "gs" => Variables {
                missing,
                credentials: match access {
                    Access::Read => {
                        "set GOOGLE_APPLICATION_CREDENTIALS to the file of an account that may read it, or \
                         GOOGLE_SKIP_SIGNATURE=true if it is public"
                    }
                    Access::Write => {
                        "set GOOGLE_APPLICATION_CREDENTIALS to the file of an account that may write it"
                    }
                },
                settings: "check the name and the account",
                where_to_look: ": check the name",
            },
            "az" | "abfs" | "abfss" => Variables {
                missing: if reads { missing } else { "container" },
                credentials: "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or another way of Azure to sign in",
                settings: "check AZURE_STORAGE_ACCOUNT_NAME and the container",
                where_to_look: ": check the name, and AZURE_STORAGE_ACCOUNT_NAME",
            },
            _ => Variables {
                missing,
                credentials: "it is not public, and no password is sent: download the file",
                settings: "check the address",
                where_to_look: ": check the address",
            },
        }
    }
}

/// Returns the error of variables of which no client can be made.
pub(super) fn environment(error: &Error, scheme: &str) -> io::Error {
    let place = Variables::of(scheme, Access::Read);
    let text = error.to_string();
    let about = if is_of_credentials(&text, None) { place.credentials } else { place.settings };
    let sentence = format!("the settings of the environment do not fit together: {about}");
    io::Error::new(ErrorKind::InvalidInput, sentence)
}

/// Returns the error of an endpoint that would get credentials over an unencrypted connection.
pub(super) fn unencrypted() -> io::Error {
    let sentence = "AWS_ENDPOINT_URL is not encrypted, and on another machine: use https://, or allow it by \
                    AWS_ALLOW_HTTP=true";
    io::Error::new(ErrorKind::InvalidInput, sentence)
}

/// Returns the error of an object that is not the one that was first asked for.
pub(super) fn changed() -> io::Error {
    let sentence =
        "the object changed while it was read: run it again once it is no longer written";
    io::Error::new(ErrorKind::StaleNetworkFileHandle, sentence)
}

/// Returns the error of an answer that ended too soon.
pub(super) fn cut_short(range: &Range<u64>, received: usize) -> io::Error {
    let sentence = format!(
        "the server sent {received} of the {} bytes from {} on: try again later",
        range.end - range.start,
        range.start
    );
    io::Error::new(ErrorKind::ConnectionAborted, sentence)
}

/// Whether the client found no credentials, or could not ask for them.
fn is_of_credentials(text: &str, status: Option<u16>) -> bool {
    // The machines that credentials are asked of; an answer with a status is quoted, so that other words may be its own.
    let of_metadata =
        ["/latest/api/token", "/latest/meta-data", "169.254.169.254", "metadata.google.internal"];
    let of_client =
        ["AccessKeyId", "SecretAccessKey", "credential", "Credential", "Account must be"];
    let has = |known: &[&str]| known.iter().any(|known| text.contains(known));
    has(&of_metadata) || status.is_none() && has(&of_client)
}

/// Returns the kind of an error of HTTP below an error.
fn http_kind(error: &Error) -> Option<HttpErrorKind> {
    below(error).find_map(|error| error.downcast_ref::<HttpError>()).map(HttpError::kind)
}

/// Whether the server's certificate was refused.
fn is_of_certificate(error: &Error) -> bool {
    below(error).any(|error| error.to_string().contains("invalid peer certificate"))
}

/// Yields an error and those that caused it.
fn below(error: &Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error as &(dyn std::error::Error + 'static)), |error| error.source())
}

/// Returns the status of an answer.
fn status_of(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("status code: ")?;
    rest.get(..3)?.parse().ok()
}

/// Returns the code of an error in an answer of XML, which is one word.
fn code_of(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_word = code.len() <= 64 && code.chars().all(|sign| sign.is_ascii_alphabetic());
    is_word.then_some(code)
}
