//! Snapshots of a database that several connections read: one exports it, and the others import it.

use super::server::Server;
use super::{answered_within, failed, sentence};
use crate::source::SourceError;
use postgres::{Client, SimpleQueryMessage};

/// Begins a transaction whose queries all see the database as it is at the first one.
const BEGIN: &str = "START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A snapshot that other connections can import while this exists.
pub(crate) struct Snapshot {
    id: String,
    /// The connection whose transaction keeps it.
    client: Option<Client>,
}

impl Snapshot {
    /// Exports a snapshot of a server's database.
    ///
    /// # Errors
    /// If the server cannot be reached, does not answer in time, or exports no snapshots.
    pub(crate) fn export(server: &str) -> Result<Snapshot, SourceError> {
        let server = Server::of(server)?.watched();
        answered_within(server.deadline(), move || {
            let mut client = server.connect()?;
            client.batch_execute(BEGIN).map_err(refused)?;
            let rows = client.simple_query("SELECT pg_export_snapshot()").map_err(refused)?;
            let id = rows.iter().find_map(|row| match row {
                SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            });
            match id {
                Some(id) => Ok(Snapshot { id, client: Some(client) }),
                None => {
                    Err(SourceError::Snapshot { why: "pg_export_snapshot() gives nothing".into() })
                }
            }
        })
    }

    /// Returns its identifier.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Snapshot {
    /// Ends the transaction. A server that is silent then is not waited for.
    fn drop(&mut self) {
        let client = self.client.take();
        // Without a thread, the connection is closed here.
        let _ = std::thread::Builder::new().name("snapshot".into()).spawn(move || drop(client));
    }
}

/// Begins a transaction on the snapshot with this identifier.
pub(super) fn import(client: &mut Client, id: &str) -> Result<(), SourceError> {
    client.batch_execute(BEGIN).map_err(refused)?;
    let id = id.replace('\'', "''");
    client.batch_execute(&format!("SET TRANSACTION SNAPSHOT '{id}'")).map_err(refused)?;
    // A scan may begin where another one is: rows without an order would differ between the ranks.
    client.batch_execute("SET LOCAL synchronize_seqscans = off").map_err(refused)
}

/// Converts an error of the server; a lost connection is not about snapshots.
fn refused(error: postgres::Error) -> SourceError {
    match error.as_db_error() {
        Some(told) => SourceError::Snapshot { why: told.message().into() },
        None => failed(sentence(&error)),
    }
}
