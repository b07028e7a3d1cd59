//! Server of a query: address, encryption and password.
//!
//! An address has libpq's forms, a URL or `host=… user=…`. `sslmode` has libpq's values:
//!
//! | `sslmode` | meaning |
//! |---|---|
//! | `disable` | no encryption |
//! | `prefer`, default for a server on this machine | encryption if the server offers it |
//! | `require`, default for other servers | encryption, or an error |
//! | `verify-ca` | also checks that a trusted authority issued the certificate |
//! | `verify-full` | also checks that the certificate is for the server's name |
//!
//! Trusted authorities are those in the file `sslrootcert` (PEM), or by default those of the system: a
//! company can add its own there, and they stay up to date. With such a file, `prefer` and `require` check as
//! `verify-ca` does. Without it they prevent eavesdropping, but not impersonation. `sslrootcert=system`
//! selects the system's authorities and `verify-full`. The environment's `PGSSLMODE` and `PGSSLROOTCERT`
//! apply if the address has no setting. So does `PGPASSWORD`, which other users of a machine cannot read from
//! the command line. If neither has a password, the file `passfile`, `PGPASSFILE` or `~/.pgpass` may: see
//! `passfile.rs`. Unix sockets are never encrypted.
//!
//! Differences to libpq:
//! - connections to other machines are encrypted by default,
//! - `allow` is rejected,
//! - `~/.postgresql/root.crt` is not read,
//! - `prefer` does not fall back after a failed handshake,
//! - certificates must be of version 3, and only their subject alternative names count.

use super::guard::TlsOptions;
use super::{failed, passfile, sentence};
use crate::source::SourceError;
use postgres::config::{Host, SslMode, SslNegotiation};
use postgres::{Client, Config, NoTls};
use ripplet_io::read_small;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use std::error::Error;
use std::net::IpAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres_rustls::MakeRustlsConnect;

/// ALPN protocol that servers of version 17 and later require.
const PROTOCOL: &[u8] = b"postgresql";

/// Error of the client without a password.
const NO_PASSWORD: &str = "password missing";

/// Default port.
const PORT: u16 = 5432;
/// Default time limit for a server's answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns a server's address with a password, which overrides one in the address.
pub fn with_password(server: &str, password: &str) -> String {
    if server.starts_with("postgres://") || server.starts_with("postgresql://") {
        let joint = if server.contains('?') { '&' } else { '?' };
        let encoded: String = password.bytes().map(|byte| format!("%{byte:02X}")).collect();
        return format!("{server}{joint}password={encoded}");
    }
    let escaped = password.replace('\\', "\\\\").replace('\'', "\\'");
    format!("{server} password='{escaped}'")
}

/// Parsed address of a server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    config: Config,
    /// Encryption; `None` for an unencrypted connection.
    encryption: Option<Encryption>,
    /// Password file that was skipped, as other users may read it.
    passed_over: Option<PathBuf>,
}

/// Verification of an encrypted connection.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Encryption {
    check: Check,
    /// File of trusted authorities; the system's if `None`.
    roots: Option<PathBuf>,
}

/// Checks of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    Nothing,
    Issuer,
    IssuerAndName,
}

impl Server {
    /// Parses an address, completed by the environment.
    ///
    /// # Errors
    /// If the address is invalid.
    pub(crate) fn of(address: &str) -> Result<Server, SourceError> {
        let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Server::parse(address, environment)
    }

    /// Connects to the server.
    ///
    /// # Errors
    /// If it cannot be reached, its certificate is not trusted, or it rejects the user.
    pub(crate) fn connect(&self) -> Result<Client, SourceError> {
        let Server { config, encryption, .. } = self;
        let connector = encryption.as_ref().map(Encryption::connector).transpose()?;
        let is_socket = config.get_hosts().iter().any(|host| !matches!(host, Host::Tcp(_)));
        let connected = match connector {
            // A Unix socket has no host name to verify.
            None if is_socket => config.connect(NoTls),
            Some(tls) if is_socket => config.connect(tls),
            tls => {
                let mode = config.get_ssl_mode();
                let is_direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
                let is_required = mode == SslMode::Require;
                let mut config = config.clone();
                // The guard negotiates encryption for all connections.
                config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
                config.connect(TlsOptions { tls, is_required, is_direct })
            }
        };
        connected.map_err(|error| {
            if config.get_password().is_none() && sentence(&error).contains(NO_PASSWORD) {
                return SourceError::address(self.without_password());
            }
            let advice = advice(&error, config.get_ssl_mode(), encryption.as_ref());
            let why = format!("cannot connect: {}{advice}", sentence(&error));
            // A wrong user or database is an error of the address.
            let refused = ["28", "3D"].iter();
            let code = error.code().map(|code| code.code().to_owned()).unwrap_or_default();
            if refused.into_iter().any(|class| code.starts_with(class)) {
                return SourceError::address(why);
            }
            failed(why)
        })
    }

    /// Returns a hint on where to put a password.
    fn without_password(&self) -> String {
        let passed_over = self.passed_over.as_ref().map_or_else(String::new, |path| {
            format!(
                ". {0} was passed over, as others may read it: run chmod 600 {0}",
                path.display()
            )
        });
        format!(
            "the server asks for a password, and there is none: name a file with --password-file, set PGPASSWORD, or add a \
             line host:port:database:user:password to ~/.pgpass{passed_over}"
        )
    }

    /// Returns the time limit for an answer.
    pub(crate) fn deadline(&self) -> Duration {
        self.config.get_connect_timeout().copied().unwrap_or(PATIENCE)
    }

    /// Has the system check a silent connection, unless the address says how: one whose server is gone ends within
    /// two minutes.
    pub(crate) fn watched(mut self) -> Server {
        const IDLE: Duration = Duration::from_secs(30);
        let config = &mut self.config;
        if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
            config.keepalives_idle(IDLE);
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_interval(IDLE);
        }
        if config.get_keepalives_retries().is_none() {
            config.keepalives_retries(3);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(2 * IDLE);
        }
        self
    }

    /// Parses an address; `environment` supplies missing settings.
    fn parse(
        address: &str,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Server, SourceError> {
        let mut rest = address.to_owned();
        // From last to first, so that earlier positions stay valid.
        let mut found = (None, None, None);
        for Setting { name, value, place } in settings(address).into_iter().rev() {
            match &*name {
                "sslmode" => found.0 = found.0.or(Some(value)),
                "sslrootcert" => found.1 = found.1.or(Some(value)),
                "passfile" => found.2 = found.2.or(Some(value)),
                _ => continue,
            }
            rest.replace_range(place, "");
        }
        let mode = found.0.or_else(|| environment("PGSSLMODE"));
        let roots = found.1.or_else(|| environment("PGSSLROOTCERT"));
        let mut config: Config = rest
            .parse()
            .map_err(|error: postgres::Error| SourceError::address(sentence(&error)))?;
        if config.get_ssl_mode() != Config::new().get_ssl_mode() {
            // Fail rather than connect with less security than requested.
            return Err(SourceError::address("sslmode stands where it is not understood".into()));
        }
        if let (None, Some(password)) = (config.get_password(), environment("PGPASSWORD")) {
            config.password(password);
        }
        let mut passed_over = None;
        if config.get_password().is_none() {
            let named = found.2.or_else(|| environment("PGPASSFILE")).map(PathBuf::from);
            let usual = || Some(Path::new(&environment("HOME")?).join(".pgpass"));
            let file = named.or_else(|| {
                // Like psql, skip a file that other users may read: it may not be needed.
                let path = usual().filter(|path| path.exists())?;
                let is_private = passfile::is_private(&path);
                passed_over = (!is_private).then(|| path.clone());
                is_private.then_some(path)
            });
            let password = file.map(|file| passfile::password(&file, &requested(&config)));
            if let Some(password) = password.transpose()?.flatten() {
                config.password(password);
            }
        }
        if config.get_hosts().is_empty() {
            // Certificates are issued for names; an address serves as its own.
            for address in config.get_hostaddrs().to_vec() {
                config.host(&address.to_string());
            }
        }
        let (mut ssl_mode, mut encryption) = encryption(mode.as_deref(), roots, is_here(&config))?;
        let hosts = config.get_hosts();
        if !hosts.is_empty() && !hosts.iter().any(|host| matches!(host, Host::Tcp(_))) {
            (ssl_mode, encryption) = (SslMode::Disable, None);
        }
        config.ssl_mode(ssl_mode);
        Ok(Server { config, encryption, passed_over })
    }
}

/// Returns the key by which a password file is searched.
fn requested(config: &Config) -> passfile::Connection<'_> {
    let mut hosts: Vec<&str> = Vec::new();
    for host in config.get_hosts() {
        match host {
            Host::Tcp(name) => hosts.push(name),
            // A Unix socket is listed under its folder and as `localhost`.
            #[cfg(unix)]
            Host::Unix(folder) => hosts.extend(folder.to_str().into_iter().chain(["localhost"])),
        }
    }
    if hosts.is_empty() {
        hosts.push("localhost");
    }
    let user = config.get_user().unwrap_or_default();
    passfile::Connection {
        hosts,
        port: config.get_ports().first().copied().unwrap_or(PORT),
        database: config.get_dbname().unwrap_or(user),
        user,
    }
}

/// Whether all hosts of an address are on this machine.
fn is_here(config: &Config) -> bool {
    let is_loopback = |name: &str| {
        name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    let host = |host: &Host| match host {
        Host::Tcp(name) => is_loopback(name),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    match config.get_hostaddrs() {
        [] => config.get_hosts().iter().all(host),
        addresses => addresses.iter().all(IpAddr::is_loopback),
    }
}

/// Returns the encryption of connections; `is_here` if the server is on this machine.
fn encryption(
    mode: Option<&str>,
    roots: Option<String>,
    is_here: bool,
) -> Result<(SslMode, Option<Encryption>), SourceError> {
    let is_system = roots.as_deref() == Some("system");
    let usual = match (is_system, is_here) {
        (true, _) => "verify-full",
        (false, true) => "prefer",
        (false, false) => "require",
    };
    let mode = mode.unwrap_or(usual);
    if is_system && mode != "verify-full" {
        let why = format!("sslrootcert=system goes with sslmode=verify-full, not with {mode}");
        return Err(SourceError::address(why));
    }
    let roots = roots.filter(|_| !is_system).map(PathBuf::from);
    let least = if roots.is_some() { Check::Issuer } else { Check::Nothing };
    let (ssl_mode, check) = match mode {
        "disable" => return Ok((SslMode::Disable, None)),
        "prefer" => (SslMode::Prefer, least),
        "require" => (SslMode::Require, least),
        "verify-ca" => (SslMode::Require, Check::Issuer),
        "verify-full" => (SslMode::Require, Check::IssuerAndName),
        _ => {
            return Err(SourceError::address(format!(
                "sslmode={mode}: expected disable, prefer, require, verify-ca or verify-full"
            )));
        }
    };
    Ok((ssl_mode, Some(Encryption { check, roots })))
}

impl Encryption {
    fn connector(&self) -> Result<MakeRustlsConnect, SourceError> {
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(self.verifier(&provider)?);
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(error.to_string()))?;
        // rustls calls a custom verifier dangerous; this one checks as much as `sslmode` asks for.
        let config = config.dangerous().with_custom_certificate_verifier(verifier);
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = vec![PROTOCOL.into()];
        Ok(MakeRustlsConnect::new(config))
    }

    fn verifier(&self, provider: &CryptoProvider) -> Result<Verifier, SourceError> {
        let trusted = match (self.check, &self.roots) {
            (Check::Nothing, _) => Vec::new(),
            (_, Some(path)) => certificates(path)?,
            (_, None) => {
                let found = rustls_native_certs::load_native_certs();
                if found.certs.is_empty() {
                    let why = "this system has no root certificates: name the server's with sslrootcert=FILE";
                    return Err(SourceError::address(why.into()));
                }
                found.certs
            }
        };
        let mut roots = RootCertStore::empty();
        let (taken, _) = roots.add_parsable_certificates(trusted.iter().cloned());
        if taken == 0 && self.check != Check::Nothing {
            return Err(SourceError::address(format!(
                "{}: no certificate in it can be used",
                self.where_from()
            )));
        }
        let algorithms = provider.signature_verification_algorithms;
        let named = if self.roots.is_some() { trusted } else { Vec::new() };
        Ok(Verifier { check: self.check, roots, named, algorithms })
    }

    /// Returns the origin of the trusted authorities.
    fn where_from(&self) -> String {
        self.roots
            .as_ref()
            .map_or("the system's root certificates".into(), |path| path.display().to_string())
    }
}

/// Size limit of a file of certificates in bytes: a hundred times that of a system.
const MOST_CERTIFICATES: u64 = 16 << 20;

/// Reads the certificates of a PEM file.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, SourceError> {
    let unreadable = |error: rustls::pki_types::pem::Error| {
        let why = match error {
            rustls::pki_types::pem::Error::Io(error) => error.to_string(),
            rustls::pki_types::pem::Error::NoItemsFound => "there is no certificate in it".into(),
            error => format!("{error:?}"),
        };
        SourceError::address(format!("sslrootcert {}: {why}", path.display()))
    };
    let text = read_small(path, MOST_CERTIFICATES, "certificates (PEM)");
    let text = text.map_err(|error| SourceError::address(format!("sslrootcert {error}")))?;
    let found = CertificateDer::pem_slice_iter(&text);
    let found = found.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    if found.is_empty() {
        return Err(unreadable(rustls::pki_types::pem::Error::NoItemsFound));
    }
    Ok(found)
}

/// Verifier of a server's certificate, as far as `sslmode` asks for.
#[derive(Debug)]
struct Verifier {
    check: Check,
    roots: RootCertStore,
    /// Certificates in the given file.
    named: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.check == Check::Nothing {
            return Ok(ServerCertVerified::assertion());
        }
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let (roots, algorithms) = (&self.roots, self.algorithms.all);
        let issued = verify_server_cert_signed_by_trust_anchor(
            &certificate,
            roots,
            intermediates,
            now,
            algorithms,
        );
        match issued {
            // A self-signed certificate is often marked as an authority, which a server's should not be. A
            // file with exactly this certificate trusts it nevertheless. Dates were checked before.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(_)))
                if self.named.contains(end_entity) => {}
            issued => issued?,
        }
        if self.check == Check::IssuerAndName {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Returns a hint if a connection fails by its encryption.
fn advice(error: &postgres::Error, mode: SslMode, encryption: Option<&Encryption>) -> String {
    use CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, UnknownIssuer,
    };
    let Some(encryption) = encryption else { return String::new() };
    match handshake(error) {
        Some(rustls::Error::InvalidCertificate(UnknownIssuer)) => format!(
            ". Whoever issued the server's certificate is not in {}: name a file that has it with \
             sslrootcert=FILE, or encrypt without a check of the server by sslmode=require alone",
            encryption.where_from()
        ),
        Some(rustls::Error::InvalidCertificate(
            NotValidForName | NotValidForNameContext { .. },
        )) => {
            ". Connect by a name that the certificate is for, or leave names out of the check by \
             sslmode=verify-ca"
                .into()
        }
        Some(rustls::Error::InvalidCertificate(Expired | ExpiredContext { .. })) => {
            ". The server needs a new certificate".into()
        }
        Some(_) => {
            ". Where the server's certificate cannot be replaced, sslmode=disable leaves encryption out, \
             in a network that you trust"
                .into()
        }
        None if mode == SslMode::Require && sentence(error).contains("does not support TLS") => {
            ". Turn encryption on there (ssl = on), or, in a network that you trust, take \
             sslmode=disable"
                .into()
        }
        None => String::new(),
    }
}

/// Returns the TLS error behind an error.
fn handshake<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        let inside = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if let Some(found) = inside.and_then(|inside| inside.downcast_ref()) {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// Setting of a server's address, and its position.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    name: String,
    value: String,
    place: Range<usize>,
}

/// Splits an address into settings: of a URL those after `?`.
fn settings(address: &str) -> Vec<Setting> {
    match address.starts_with("postgres://") || address.starts_with("postgresql://") {
        true => of_url(address),
        false => of_words(address),
    }
}

fn of_url(address: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    // A password ends at `@`, and may contain `?`.
    let behind = address.find('@').unwrap_or(0);
    let question = address[behind..].find('?');
    let Some(mut from) = question.map(|at| behind + at + 1) else { return found };
    for pair in address[from..].split('&') {
        let end = from + pair.len();
        if let Some((name, value)) = pair.split_once('=') {
            let (name, value) = (decoded(name), decoded(value));
            // Includes a trailing `&`: `?&` would be invalid.
            let place = from..(end + 1).min(address.len());
            found.push(Setting { name, value, place });
        }
        from = end + 1;
    }
    found
}

/// Decodes percent escapes.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let code = text_of(behind.get(..2)).and_then(|code| u8::from_str_radix(code, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn text_of(bytes: Option<&[u8]>) -> Option<&str> {
    bytes.and_then(|bytes| std::str::from_utf8(bytes).ok())
}

/// Parses `name = value` pairs, with `'` around values with blanks, and `\` as an escape.
fn of_words(address: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    let mut letters = address.char_indices().peekable();
    loop {
        while letters.next_if(|(_, letter)| letter.is_whitespace()).is_some() {}
        let Some(&(from, _)) = letters.peek() else { return found };
        let (mut name, mut value) = (String::new(), String::new());
        while let Some((_, letter)) = letters.next_if(|(_, c)| *c != '=' && !c.is_whitespace()) {
            name.push(letter);
        }
        while letters.next_if(|(_, letter)| letter.is_whitespace()).is_some() {}
        if letters.next_if(|(_, letter)| *letter == '=').is_none() {
            return found;
        }
        while letters.next_if(|(_, letter)| letter.is_whitespace()).is_some() {}
        let quoted = letters.next_if(|(_, letter)| *letter == '\'').is_some();
        let is_end = |letter: char| if quoted { letter == '\'' } else { letter.is_whitespace() };
        while let Some((_, letter)) = letters.next_if(|(_, letter)| !is_end(*letter)) {
            value.push(match letter {
                '\\' => letters.next().map_or('\\', |(_, letter)| letter),
                letter => letter,
            });
        }
        if quoted && letters.next().is_none() {
            return found;
        }
        let end = letters.peek().map_or(address.len(), |(at, _)| *at);
        found.push(Setting { name, value, place: from..end });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(address: &str) -> (SslMode, Option<(Check, Option<String>)>) {
        let server = Server::parse(address, |_| None).unwrap();
        let roots = |roots: Option<PathBuf>| roots.map(|path| path.display().to_string());
        let encryption = server.encryption.map(|of| (of.check, roots(of.roots)));
        (server.config.get_ssl_mode(), encryption)
    }

    fn refused(address: &str) -> String {
        Server::parse(address, |_| None).unwrap_err().to_string()
    }

    #[test]
    fn encryption_is_requested_as_in_psql() {
        use Check::{Issuer, IssuerAndName, Nothing};
        let file = || Some("/a b/root.crt".to_owned());
        for (asked, mode, expected) in [
            ("", SslMode::Require, Some((Nothing, None))),
            ("?sslmode=prefer", SslMode::Prefer, Some((Nothing, None))),
            ("?sslmode=disable&sslrootcert=x", SslMode::Disable, None),
            ("?sslmode=require", SslMode::Require, Some((Nothing, None))),
            ("?sslrootcert=/a%20b/root.crt", SslMode::Require, Some((Issuer, file()))),
            (
                "?sslrootcert=/a b/root.crt&sslmode=require",
                SslMode::Require,
                Some((Issuer, file())),
            ),
            ("?connect_timeout=3&sslmode=verify-ca", SslMode::Require, Some((Issuer, None))),
            (
                "?sslmode=verify-full&connect_timeout=3",
                SslMode::Require,
                Some((IssuerAndName, None)),
            ),
            ("?sslrootcert=system", SslMode::Require, Some((IssuerAndName, None))),
        ] {
            assert_eq!(
                parsed(&format!("postgres://risk@db/shop{asked}")),
                (mode, expected),
                "{asked}"
            );
        }
        let words =
            "host=db user=risk sslmode = verify-full  sslrootcert='/a b/root.crt' dbname=shop";
        assert_eq!(parsed(words), (SslMode::Require, Some((IssuerAndName, file()))));
        let words =
            r"host=db user=risk password='it\'s sslmode=disable' sslrootcert=/a\ b/root.crt";
        assert_eq!(parsed(words), (SslMode::Require, Some((Issuer, file()))));
        let server = Server::parse(words, |_| None).unwrap();
        assert_eq!(server.config.get_password(), Some(&b"it's sslmode=disable"[..]));
        let odd = "postgres://risk:what?@db/shop?sslmode=verify-full";
        assert_eq!(parsed(odd), (SslMode::Require, Some((IssuerAndName, None))));
        // The last setting wins.
        let twice = "postgres://db/shop?sslmode=disable&sslmode=require";
        assert_eq!(parsed(twice), (SslMode::Require, Some((Nothing, None))));
    }

    #[test]
    fn the_environment_holds_where_the_address_says_nothing() {
        let environment = |name: &str| match name {
            "PGSSLMODE" => Some("verify-full".to_owned()),
            "PGSSLROOTCERT" => Some("root.crt".to_owned()),
            "PGPASSWORD" => Some("secret".to_owned()),
            _ => None,
        };
        let of = |address: &str| Server::parse(address, environment).unwrap().encryption;
        let file = |name: &str| Some(PathBuf::from(name));
        let expected = Encryption { check: Check::IssuerAndName, roots: file("root.crt") };
        assert_eq!(of("postgres://db/shop"), Some(expected));
        let expected = Encryption { check: Check::Issuer, roots: file("other.crt") };
        assert_eq!(
            of("postgres://db/shop?sslmode=verify-ca&sslrootcert=other.crt"),
            Some(expected)
        );
        assert_eq!(of("host=db sslmode=disable"), None);
        let password = |address: &str| {
            let config = Server::parse(address, environment).unwrap().config;
            String::from_utf8(config.get_password().unwrap().to_vec()).unwrap()
        };
        assert_eq!(password("postgres://risk@db/shop"), "secret");
        assert_eq!(password("postgres://risk:own@db/shop"), "own");
    }

    #[test]
    fn only_a_server_on_this_machine_is_spoken_to_without_encryption() {
        for (address, mode) in [
            ("postgres://risk@localhost/shop", SslMode::Prefer),
            ("postgres://risk@127.0.0.2/shop", SslMode::Prefer),
            ("postgres://risk@[::1]/shop", SslMode::Prefer),
            ("host=localhost hostaddr=10.0.0.7", SslMode::Require),
            ("host=localhost,db", SslMode::Require),
            ("postgres://risk@localhost.example.com/shop", SslMode::Require),
            ("postgres://risk@10.0.0.7/shop", SslMode::Require),
            ("postgres://risk@10.0.0.7/shop?sslmode=prefer", SslMode::Prefer),
        ] {
            assert_eq!(parsed(address).0, mode, "{address}");
        }
    }

    #[test]
    fn passwords_come_from_files_too() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let private = std::fs::Permissions::from_mode(0o600);
                std::fs::set_permissions(&path, private).unwrap();
            }
            path.display().to_string()
        };
        let home = folder.path().display().to_string();
        write(".pgpass", "db:5432:shop:risk:at home\nlocalhost:5432:*:*:of a socket\n");
        let (named, other) = (write("named", "*:*:*:*:named"), write("other", "*:*:*:*:other"));
        let password = |address: &str, variables: &[(&str, &str)]| {
            let environment = |name: &str| {
                let home = (name == "HOME").then(|| home.clone());
                let found = variables.iter().find(|(variable, _)| *variable == name);
                found.map(|(_, value)| (*value).to_owned()).or(home)
            };
            let config = Server::parse(address, environment).unwrap().config;
            config.get_password().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(password("postgres://risk@db/shop", &[]), some("at home"));
        assert_eq!(password("postgres://risk@db/other", &[]), None);
        assert_eq!(password("host=/run/postgresql user=risk", &[]), some("of a socket"));
        let variable = [("PGPASSFILE", &*other)];
        assert_eq!(password("postgres://risk@db/shop", &variable), some("other"));
        let address = format!("host=db user=risk passfile={named}");
        assert_eq!(password(&address, &variable), some("named"));
        assert_eq!(password(&address, &[("PGPASSWORD", "variable")]), some("variable"));
        let odd = "it's a \\ ?&=% \u{e9}";
        for address in [
            "postgres://risk@db/shop",
            "postgres://risk:x@db/shop?sslmode=disable",
            "host=db user=risk",
        ] {
            assert_eq!(password(&with_password(address, odd), &[]), some(odd), "{address}");
        }
    }

    #[test]
    fn names_are_those_of_the_address() {
        let hosts =
            |address: &str| Server::parse(address, |_| None).unwrap().config.get_hosts().to_vec();
        assert_eq!(hosts("hostaddr=10.0.0.7 sslmode=verify-full"), [Host::Tcp("10.0.0.7".into())]);
        assert_eq!(parsed("host=/run/postgresql sslmode=require"), (SslMode::Disable, None));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(
            refused("postgres://db/?sslmode=allow")
                .contains("sslmode=allow: expected disable, prefer")
        );
        assert!(refused("host=db sslrootcert=system sslmode=require").contains("verify-full"));
        // Texts that are no address are refused.
        for address in ["host", "host=db password='open", "postgres://db/?nothing", "x=", "%"] {
            assert!(Server::parse(address, |_| None).is_err(), "{address}");
        }
        let missing = Encryption { check: Check::Issuer, roots: Some("/no/such/file".into()) };
        let missing = missing.connector().err().map(|error| error.to_string()).unwrap();
        assert!(missing.contains("sslrootcert /no/such/file: "), "{missing}");
    }

    #[test]
    fn one_that_a_server_made_for_itself_is_trusted_by_whoever_names_it() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/other-root.crt");
        let roots = Some(PathBuf::from(file));
        let provider = ring::default_provider();
        let named = |check| Encryption { check, roots: roots.clone() }.verifier(&provider).unwrap();
        let own = &certificates(Path::new(file)).unwrap()[0];
        let look = |verifier: &Verifier, name: &str, now: u64| {
            let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(now));
            let name = ServerName::try_from(name.to_owned()).unwrap();
            verifier
                .verify_server_cert(own, &[], &name, &[], now)
                .map(|_| ())
                .map_err(|e| e.to_string())
        };
        const OF_2030: u64 = 1_893_456_000;
        assert_eq!(look(&named(Check::Issuer), "elsewhere", OF_2030), Ok(()));
        assert_eq!(look(&named(Check::IssuerAndName), "db", OF_2030), Ok(()));
        assert!(look(&named(Check::IssuerAndName), "elsewhere", OF_2030).is_err());
        // Its dates count, and it is trusted for being named, not for having issued itself.
        assert!(look(&named(Check::Issuer), "db", 0).is_err());
        assert!(
            look(&Verifier { named: Vec::new(), ..named(Check::Issuer) }, "db", OF_2030).is_err()
        );
    }
}
