//! A server of S3 on this machine, and a proxy in front of it that counts and spoils answers.
//!
//! `RIPPLET_S3_SERVER` names the server's command: `moto_server` of the Python package `moto`, as `.ci/run` sets it. Without it,
//! the tests that need it say so and do nothing; with `RIPPLET_REQUIRE_S3`, they fail.

use std::env;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The secret of the tests, which nothing may print.
pub const SECRET: &str = "ThisSecretIsNotPrinted";
/// Its key, which nothing may print either.
pub const KEY: &str = "AKIANEVERPRINTED";

/// A server, which ends with this value.
pub struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// Starts a server with a bucket `data`, if it is to be tested.
    pub fn start() -> Option<Server> {
        let Some(command) = env::var_os("RIPPLET_S3_SERVER") else {
            let is_required = env::var_os("RIPPLET_REQUIRE_S3").is_some();
            assert!(!is_required, "RIPPLET_S3_SERVER is not set");
            eprintln!("not tested: RIPPLET_S3_SERVER is not set");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(command);
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Server { process, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not start");
            thread::sleep(Duration::from_millis(20));
        }
        server.put("data", b"");
        Some(server)
    }

    /// Makes a bucket, or an object in one.
    #[track_caller]
    pub fn put(&self, path: &str, bytes: &[u8]) {
        put(self.port, path, bytes);
    }

    /// Returns the bytes of an object.
    #[track_caller]
    pub fn get(&self, path: &str) -> Vec<u8> {
        request(self.port, "GET", path, b"")
    }

    /// Returns the keys of the objects of a bucket that begin so, in order.
    #[track_caller]
    pub fn objects(&self, bucket: &str, prefix: &str) -> Vec<String> {
        let listed = self.get(&format!("{bucket}?list-type=2&prefix={prefix}"));
        let listed = String::from_utf8(listed).unwrap();
        let keys = listed.split("<Key>").skip(1).map(|rest| rest.split("</Key>").next().unwrap());
        let mut keys: Vec<String> = keys.map(str::to_owned).collect();
        keys.sort();
        keys
    }

    /// Removes the objects of a bucket that begin so.
    #[track_caller]
    pub fn delete(&self, bucket: &str, prefix: &str) {
        for key in self.objects(bucket, prefix) {
            request(self.port, "DELETE", &format!("{bucket}/{key}"), b"");
        }
    }

    /// Returns the number of uploads in a bucket that were begun, and neither completed nor aborted.
    #[track_caller]
    pub fn uploads(&self, bucket: &str) -> usize {
        let listed = String::from_utf8(self.get(&format!("{bucket}?uploads"))).unwrap();
        assert!(listed.contains("ListMultipartUploadsResult"), "{listed}");
        listed.matches("<UploadId>").count()
    }

    /// Returns the server's address, as that of a web server.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the variables with which a command finds the server.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        variables(self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[track_caller]
fn put(port: u16, path: &str, bytes: &[u8]) {
    request(port, "PUT", path, bytes);
}

/// Sends a request, which must succeed, and returns the body of the answer.
#[track_caller]
fn request(port: u16, method: &str, path: &str, bytes: &[u8]) -> Vec<u8> {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let public = if method == "PUT" { "x-amz-acl: public-read\r\n" } else { "" };
    let head = format!(
        "{method} /{path} HTTP/1.1\r\nHost: s3.amazonaws.com\r\nContent-Length: {}\r\nConnection: close\r\n{public}Authorization: \
         AWS4-HMAC-SHA256 Credential=a/20200101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=b\r\n\r\n",
        bytes.len()
    );
    connection.write_all(head.as_bytes()).unwrap();
    connection.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).unwrap();
    let body = answer.windows(4).position(|end| end == b"\r\n\r\n").map_or(0, |at| at + 4);
    let head = String::from_utf8_lossy(&answer[..body]).into_owned();
    assert!(head.starts_with("HTTP/1.1 20"), "{method} {path}: {head}");
    answer.split_off(body)
}

fn variables(port: u16) -> Vec<(&'static str, String)> {
    vec![
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
        ("AWS_ACCESS_KEY_ID", KEY.into()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.into()),
        ("AWS_REGION", "us-east-1".into()),
    ]
}

/// What the proxy does to answers.
#[derive(Clone, Debug)]
pub enum Spoil {
    /// Nothing.
    Nothing,
    /// Ends the connection after half of each of the next bodies of this many requests of bytes.
    CutShort(usize),
    /// Answers with a status and a body.
    Answer(&'static str, String),
    /// Replaces the object after the next request that is not for bytes.
    Replace(&'static str, Vec<u8>),
    /// Gives bytes another ETag than the server does.
    OtherTag,
    /// Does not answer.
    Silence,
    /// Answers to parts of uploads with a status.
    Parts(&'static str),
    /// Does not answer to parts of uploads.
    SilentParts,
    /// Ends all connections without an answer, from the first part of an upload on.
    AwayAtParts,
    /// Ends all connections without an answer.
    Away,
    /// Answers with a status to requests that write an object.
    Object(&'static str, &'static str),
    /// Does not answer to requests whose first line has this in it.
    Silent(&'static str),
    /// Answers with a status and a body to requests whose first line has this in it.
    Refused(&'static str, &'static str, String),
}

/// A proxy in front of a server, until the test ends.
pub struct Proxy {
    port: u16,
    spoil: Arc<Mutex<Spoil>>,
    /// The first line and the range of each request.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    pub fn of(server: &Server) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = Proxy {
            port,
            spoil: Arc::new(Mutex::new(Spoil::Nothing)),
            requests: Arc::new(Mutex::new(Vec::new())),
        };
        let (to, spoil, requests) = (server.port, proxy.spoil.clone(), proxy.requests.clone());
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (spoil, requests) = (spoil.clone(), requests.clone());
                // A client that is gone ends its own connection alone.
                thread::spawn(move || pass(client, to, &spoil, &requests));
            }
        });
        proxy
    }

    pub fn spoil(&self, how: Spoil) {
        *self.spoil.lock().unwrap() = how;
        self.requests.lock().unwrap().clear();
    }

    /// The first line and the range of each request since answers are spoilt so.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub fn variables(&self) -> Vec<(&'static str, String)> {
        variables(self.port)
    }
}

/// Passes a request on, and its answer back.
fn pass(
    mut client: TcpStream,
    port: u16,
    spoil: &Mutex<Spoil>,
    requests: &Mutex<Vec<String>>,
) -> Option<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let line = head.lines().next().unwrap_or_default().to_owned();
    let range = head.lines().find(|line| line.to_ascii_lowercase().starts_with("range:"));
    let is_of_bytes = range.is_some();
    requests.lock().unwrap().push(format!("{line} {}", range.unwrap_or_default()));
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    let mut sent = vec![0; length.unwrap_or(0)];
    client.read_exact(&mut sent).ok()?;
    let (is_part, how) = (line.contains("partNumber="), spoil.lock().unwrap().clone());
    let how = match how {
        Spoil::Parts(status) if is_part => Spoil::Answer(status, String::new()),
        Spoil::SilentParts if is_part => Spoil::Silence,
        Spoil::AwayAtParts if is_part => {
            *spoil.lock().unwrap() = Spoil::Away;
            Spoil::Away
        }
        Spoil::Object(key, status) if line.starts_with(&format!("PUT /data/{key} ")) => {
            Spoil::Answer(status, String::new())
        }
        Spoil::Silent(part) if line.contains(part) => Spoil::Silence,
        Spoil::Refused(part, status, body) if line.contains(part) => Spoil::Answer(status, body),
        how => how,
    };
    match how {
        Spoil::Away => return None,
        Spoil::Silence => {
            thread::sleep(Duration::from_secs(60));
            return None;
        }
        Spoil::Answer(status, body) => {
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            return client.write_all(answer.as_bytes()).ok();
        }
        _ => {}
    }
    let mut server = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let head = head.trim_end().to_owned() + "\r\nConnection: close\r\n\r\n";
    server.write_all(head.as_bytes()).ok()?;
    server.write_all(&sent).ok()?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).ok()?;
    let body = answer.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
    match how {
        Spoil::CutShort(left) if is_of_bytes && left > 0 => {
            *spoil.lock().unwrap() = Spoil::CutShort(left - 1);
            answer.truncate(body + (answer.len() - body) / 2);
        }
        Spoil::OtherTag if is_of_bytes => {
            let text = String::from_utf8_lossy(&answer[..body]).into_owned();
            let tag = text.lines().find(|line| line.to_ascii_lowercase().starts_with("etag:"))?;
            let text = text.replace(tag, "ETag: \"another\"");
            answer = [text.as_bytes(), &answer[body..]].concat();
        }
        Spoil::Replace(path, bytes) if !is_of_bytes => {
            *spoil.lock().unwrap() = Spoil::Nothing;
            put(port, path, &bytes);
        }
        _ => {}
    }
    client.write_all(&answer).ok()?;
    client.shutdown(Shutdown::Both).ok()
}
