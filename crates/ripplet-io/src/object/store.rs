//! Addresses, clients with the credentials of the environment, and the threads that wait for servers.

use super::fault::{environment, unencrypted};
use super::profile;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::multipart::MultipartStore;
use object_store::path::Path as Key;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use std::future::Future;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

/// Time to connect, and time of a request of up to 8 MiB: 1.1 Mbit/s are enough.
const CONNECT: Duration = Duration::from_secs(5);
const REQUEST: Duration = Duration::from_secs(60);
/// Repetitions of a request, and the time after which there is no other one: a server that is away for a moment is waited
/// for, and one that is not there is an error within half a minute.
const RETRIES: usize = 6;
const PATIENCE: Duration = Duration::from_secs(25);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Threads that wait for servers, and decrypt.
const THREADS: usize = 2;

/// The parts of an address: `scheme://authority/rest`.
pub(super) struct Address<'a> {
    pub(super) scheme: &'a str,
    authority: &'a str,
    pub(super) rest: &'a str,
}

/// A client, and the environment that it was made for.
struct Client {
    address: String,
    variables: Vec<(String, String)>,
    stores: Stores,
}

/// A client, by what it does.
#[derive(Clone)]
pub(super) struct Stores {
    pub(super) store: Arc<dyn ObjectStore>,
    /// Uploads in parts; a web server has none.
    pub(super) uploads: Option<Arc<dyn MultipartStore>>,
}

impl Stores {
    fn of<S: ObjectStore + MultipartStore>(store: S) -> Stores {
        let store = Arc::new(store);
        Stores { store: store.clone(), uploads: Some(store) }
    }
}

impl<'a> Address<'a> {
    pub(super) fn of(path: &'a Path) -> io::Result<Address<'a>> {
        let parts = || {
            let (scheme, rest) = path.to_str()?.split_once("://")?;
            let (authority, rest) = rest.split_once('/').unwrap_or((rest, ""));
            (!authority.is_empty()).then_some(Address { scheme, authority, rest })
        };
        parts().ok_or_else(|| wrong("expected SCHEME://BUCKET/NAME"))
    }

    /// Returns the key of the object.
    pub(super) fn key(&self) -> io::Result<Key> {
        if self.rest.is_empty() || self.rest.ends_with('/') {
            let sentence = "a folder or a bucket is not read from object storage: name an object, or several by a pattern \
                            such as …/*.csv";
            return Err(wrong(sentence));
        }
        self.folder()
    }

    /// Returns the key of a folder.
    pub(super) fn folder(&self) -> io::Result<Key> {
        const EMPTY: &str =
            "the name has an empty part, `.` or `..`, or a control character, which is not read";
        // The client would leave these out.
        if self.rest.starts_with('/') || self.rest.contains("//") {
            return Err(wrong(EMPTY));
        }
        let key = match self.is_http() {
            true => Key::from_url_path(self.rest),
            false => Key::parse(self.rest),
        };
        key.map_err(|_| wrong(EMPTY))
    }

    pub(super) fn is_http(&self) -> bool {
        self.scheme.starts_with("http")
    }

    /// Returns the client that reads and lists.
    pub(super) fn store(&self) -> io::Result<Arc<dyn ObjectStore>> {
        self.stores().map(|stores| stores.store)
    }

    /// Returns a client, of before if the environment is the same.
    pub(super) fn stores(&self) -> io::Result<Stores> {
        static CLIENTS: Mutex<Vec<Client>> = Mutex::new(Vec::new());
        let (address, variables) =
            (format!("{}://{}", self.scheme, self.authority), self.variables()?);
        let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            clients.iter().find(|known| known.address == address && known.variables == variables);
        if let Some(known) = known {
            return Ok(known.stores.clone());
        }
        let stores = self.connect(&address, &variables)?;
        clients.push(Client { address, variables, stores: stores.clone() });
        Ok(stores)
    }

    /// Returns the variables of the environment that the client has, with names in lower case.
    fn variables(&self) -> io::Result<Vec<(String, String)>> {
        let prefix = match self.scheme {
            "s3" | "s3a" => "AWS_",
            "gs" => "GOOGLE_",
            "az" | "abfs" | "abfss" => "AZURE_",
            _ => return Ok(Vec::new()),
        };
        let text = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let of_client = text.filter(|(name, value)| name.starts_with(prefix) && !value.is_empty());
        let mut variables: Vec<_> =
            of_client.map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        // The profile has what the environment does not say, as the tools of AWS have it; other ways to sign in come before.
        let ways = ["aws_access_key_id", "aws_skip_signature", "aws_web_identity_token_file"];
        if prefix == "AWS_" && !variables.iter().any(|(name, _)| ways.contains(&name.as_str())) {
            for (name, value) in profile::of_environment()? {
                if !variables.iter().any(|(known, _)| *known == name) {
                    variables.push((name, value));
                }
            }
        }
        variables.sort();
        Ok(variables)
    }

    fn connect(&self, address: &str, variables: &[(String, String)]) -> io::Result<Stores> {
        // Another one may be there already, of the program that this library is in.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let retry = RetryConfig {
            backoff: BackoffConfig { max_backoff: LONGEST_PAUSE, ..BackoffConfig::default() },
            max_retries: RETRIES,
            retry_timeout: PATIENCE,
        };
        let client = ClientOptions::new().with_connect_timeout(CONNECT).with_timeout(REQUEST);
        let value = |names: &[&str]| {
            let of = |name: &&str| variables.iter().find(|(known, _)| known == name);
            names.iter().find_map(of).map(|(_, value)| value.as_str())
        };
        let made = match self.scheme {
            "s3" | "s3a" => {
                let endpoint = value(&["aws_endpoint_url_s3", "aws_endpoint_url", "aws_endpoint"]);
                let client = check_endpoint(endpoint, value(&["aws_allow_http"]), client)?;
                let builder = AmazonS3Builder::new()
                    .with_client_options(client)
                    .with_retry(retry)
                    .with_bucket_name(self.authority);
                let with = |builder: AmazonS3Builder, (name, value): &(String, String)| {
                    match name.parse::<AmazonS3ConfigKey>() {
                        Ok(key) => builder.with_config(key, value),
                        Err(_) => builder,
                    }
                };
                let builder = variables.iter().fold(builder, with);
                // One by one: not every server removes several at a time, and an answer that names another object would be a
                // panic of the client.
                let builder = builder.with_disable_bulk_delete(true);
                builder.build().map(Stores::of)
            }
            "gs" => {
                let builder = GoogleCloudStorageBuilder::new()
                    .with_client_options(client)
                    .with_retry(retry)
                    .with_bucket_name(self.authority);
                let with = |builder: GoogleCloudStorageBuilder,
                            (name, value): &(String, String)| {
                    match name.parse::<GoogleConfigKey>() {
                        Ok(key) => builder.with_config(key, value),
                        Err(_) => builder,
                    }
                };
                let builder = variables.iter().fold(builder, with);
                builder.build().map(Stores::of)
            }
            "az" | "abfs" | "abfss" => {
                let builder = MicrosoftAzureBuilder::new()
                    .with_client_options(client)
                    .with_retry(retry)
                    .with_url(address);
                let with = |builder: MicrosoftAzureBuilder, (name, value): &(String, String)| {
                    match name.parse::<AzureConfigKey>() {
                        Ok(key) => builder.with_config(key, value),
                        Err(_) => builder,
                    }
                };
                let builder = variables.iter().fold(builder, with);
                builder.build().map(Stores::of)
            }
            _ => {
                let builder = HttpBuilder::new()
                    .with_client_options(client.with_allow_http(true))
                    .with_retry(retry)
                    .with_url(address);
                builder.build().map(|store| Stores { store: Arc::new(store), uploads: None })
            }
        };
        made.map_err(|error| environment(&error, self.scheme))
    }
}

/// Refuses credentials over an unencrypted connection to another machine, if the user does not allow that.
fn check_endpoint(
    endpoint: Option<&str>,
    allowed: Option<&str>,
    client: ClientOptions,
) -> io::Result<ClientOptions> {
    let Some(host) = endpoint.and_then(|endpoint| endpoint.strip_prefix("http://")) else {
        return Ok(client);
    };
    let host = host.split('/').next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_here = name == "localhost" || name == "[::1]" || name.starts_with("127.");
    match is_here || allowed.is_some_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
    {
        true => Ok(client.with_allow_http(true)),
        false => Err(unencrypted()),
    }
}

pub(super) fn wrong(sentence: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, sentence)
}

/// An answer that comes later.
#[derive(Debug)]
pub(super) struct Answer<T>(Receiver<T>);

impl<T> Answer<T> {
    pub(super) fn wait(self) -> io::Result<T> {
        self.0.recv().map_err(|_| io::Error::other("the client of object storage failed"))
    }
}

/// Starts a task on the threads that wait for servers.
pub(super) fn start<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
) -> io::Result<Answer<T>> {
    start_to_stop(task).map(|(answer, _)| answer)
}

/// Starts a task, as [`start`], which its handle stops.
pub(super) fn start_to_stop<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
) -> io::Result<(Answer<T>, AbortHandle)> {
    let (send, receive) = sync_channel(1);
    let spawned = runtime()?.spawn(async move {
        // The caller may have ended with an error.
        let _ = send.send(task.await);
    });
    Ok((Answer(receive), spawned.abort_handle()))
}

/// Returns the result of a task. The caller may be in a runtime of its own.
pub(super) fn wait<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
) -> io::Result<T> {
    start(task)?.wait()
}

fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    let made = || {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(THREADS).thread_name("object-storage").enable_all().build()
    };
    match RUNTIME.get_or_init(made) {
        Ok(runtime) => Ok(runtime),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    }
}
