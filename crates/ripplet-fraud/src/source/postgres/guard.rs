//! Connection guard: bounds the size of a server's messages.
//!
//! A message of a server begins with a type byte and its length, and the client buffers it until it is
//! complete: a server that announces 2 GiB would get that much memory. The guard checks each length as it
//! arrives, after decryption, and closes the connection at the first length beyond the limit. The total size
//! of messages other than rows (parameters, notifications, type descriptions) is bounded, too.
//!
//! The guard must sit between the client and the socket, which the client's interface allows for encryption
//! alone. So the guard negotiates encryption itself, as the client would.
//!
//! ```text
//! client ◀─ GuardedStream ◀─ TLS, or nothing ◀─ socket
//! ```

use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Size limit of a message in bytes: a row of ids, a time and an amount has some hundred.
const MOST_OF_A_MESSAGE: u32 = 16 << 20;
/// Size limit in bytes of all messages that are neither rows nor notices.
const MOST_BESIDE_ROWS: u64 = 64 << 20;

/// `SSLRequest` message of the protocol; the server accepts with `S`.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
const SSL_ACCEPTED: u8 = b'S';

const COPY_DATA: u8 = b'd';
const NOTICE: u8 = b'N';

type Failed = Box<dyn Error + Send + Sync>;

/// Encryption of a connection.
#[derive(Clone)]
pub(super) struct TlsOptions {
    /// Connector; `None` for an unencrypted connection.
    pub tls: Option<MakeRustlsConnect>,
    /// Whether a server without encryption is rejected.
    pub is_required: bool,
    /// Whether TLS starts without an `SSLRequest` (direct negotiation).
    pub is_direct: bool,
}

impl MakeTlsConnect<Socket> for TlsOptions {
    type Stream = GuardedStream;
    type TlsConnect = TlsNegotiation;
    type Error = Failed;

    fn make_tls_connect(&mut self, server: &str) -> Result<TlsNegotiation, Failed> {
        Ok(TlsNegotiation { how: self.clone(), server: server.to_owned() })
    }
}

/// Connection before its TLS handshake.
pub(super) struct TlsNegotiation {
    how: TlsOptions,
    server: String,
}

impl TlsConnect<Socket> for TlsNegotiation {
    type Stream = GuardedStream;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<GuardedStream, Failed>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(self.agree(stream))
    }
}

impl TlsNegotiation {
    async fn agree(self, mut stream: Socket) -> Result<GuardedStream, Failed> {
        let TlsNegotiation { how: TlsOptions { tls, is_required, is_direct }, server } = self;
        let Some(mut tls) = tls else {
            return Ok(GuardedStream::new(Box::new(Plain(stream)), server));
        };
        if !is_direct {
            stream.write_all(&SSL_REQUEST).await?;
            let mut answer = [0];
            // Read no more than one byte: what follows must be encrypted.
            stream.read_exact(&mut answer).await?;
            if answer != [SSL_ACCEPTED] && is_required {
                return Err("server does not support TLS".into());
            }
            if answer != [SSL_ACCEPTED] {
                return Ok(GuardedStream::new(Box::new(Plain(stream)), server));
            }
        }
        let connector = MakeTlsConnect::<Socket>::make_tls_connect(&mut tls, &server)?;
        let stream = connector.connect(stream).await?;
        Ok(GuardedStream::new(Box::new(stream), server))
    }
}

/// Unencrypted connection.
struct Plain(Socket);

/// Connection whose messages are checked as they are read.
pub(super) struct GuardedStream {
    stream: Pin<Box<dyn TlsStream + Send>>,
    lengths: Lengths,
}

impl GuardedStream {
    fn new(stream: Box<dyn TlsStream + Send>, server: String) -> GuardedStream {
        GuardedStream { stream: stream.into(), lengths: Lengths::of(server) }
    }
}

/// Parser of message lengths.
#[derive(Debug)]
struct Lengths {
    server: String,
    /// Type byte and length of the message, as far as received.
    head: [u8; 5],
    /// Bytes of the head that were received.
    known: usize,
    /// Bytes of the message's content that are missing.
    rest: usize,
    beside_rows: u64,
}

impl Lengths {
    fn of(server: String) -> Lengths {
        Lengths { server, head: [0; 5], known: 0, rest: 0, beside_rows: 0 }
    }

    /// Processes received bytes.
    fn take(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let content = self.rest.min(bytes.len());
            self.rest -= content;
            bytes = &bytes[content..];
            let head = (self.head.len() - self.known).min(bytes.len());
            self.head[self.known..self.known + head].copy_from_slice(&bytes[..head]);
            self.known += head;
            bytes = &bytes[head..];
            if self.known == self.head.len() {
                self.begin()?;
            }
        }
        Ok(())
    }

    /// Checks the head of a message.
    fn begin(&mut self) -> io::Result<()> {
        let [letter, length @ ..] = self.head;
        let length = u32::from_be_bytes(length);
        if length > MOST_OF_A_MESSAGE {
            return Err(self.refused(format!(
                "announces a message of {length} bytes, and {} MiB are the most that a row is expected to have: let the query \
                 select the columns of the mapping alone",
                MOST_OF_A_MESSAGE >> 20
            )));
        }
        if ![COPY_DATA, NOTICE].contains(&letter) {
            self.beside_rows += u64::from(length);
        }
        if self.beside_rows > MOST_BESIDE_ROWS {
            let most = MOST_BESIDE_ROWS >> 20;
            return Err(self.refused(format!("sends more than {most} MiB that are no rows")));
        }
        // The length includes itself; the client rejects a smaller one.
        (self.known, self.rest) = (0, length.saturating_sub(4) as usize);
        Ok(())
    }

    fn refused(&self, why: String) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, format!("the server {} {why}", self.server))
    }
}

impl AsyncRead for GuardedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = self.stream.as_mut().poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = read {
            self.lengths.take(&buffer.filled()[before..])?;
        }
        read
    }
}

impl AsyncWrite for GuardedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(context)
    }
}

impl TlsStream for GuardedStream {
    fn channel_binding(&self) -> ChannelBinding {
        self.stream.channel_binding()
    }
}

impl AsyncRead for Plain {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Plain {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

impl TlsStream for Plain {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(letter: u8, content: usize) -> Vec<u8> {
        let length = (content as u32 + 4).to_be_bytes();
        [&[letter][..], &length, &vec![0; content]].concat()
    }

    #[test]
    fn lengths_are_followed_however_bytes_come() {
        let rows = [message(b'R', 4), message(COPY_DATA, 300), message(b'Z', 1)].concat();
        let rows = rows.repeat(40);
        for step in [1, 3, 7, 4096] {
            let mut lengths = Lengths::of("db".into());
            rows.chunks(step).for_each(|bytes| lengths.take(bytes).unwrap());
            assert_eq!((lengths.known, lengths.rest), (0, 0), "{step}");
            assert_eq!(lengths.beside_rows, 40 * (8 + 5));
            let error = lengths.take(&[COPY_DATA, 0x7f, 0xff, 0xff, 0xff]).unwrap_err();
            assert!(
                error.to_string().starts_with("the server db announces a message of 2147483647")
            );
        }
    }

    #[test]
    fn what_is_kept_beside_rows_is_bounded() {
        let parameter = message(b'S', 1 << 20);
        let notices = message(NOTICE, 1 << 20).repeat(70);
        let mut lengths = Lengths::of("db".into());
        lengths.take(&notices).unwrap();
        let taken = (0..100).take_while(|_| lengths.take(&parameter).is_ok()).count();
        assert_eq!(taken, 63);
    }
}
