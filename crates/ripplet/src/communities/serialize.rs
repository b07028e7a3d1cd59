//! Communities as values of `serde`.

use super::{Communities, Community};
use ripplet_graph::ExternalId;
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// An id as a number or a string.
struct Id<'a>(ExternalId<'a>);

/// The ids of a community's members.
struct Ids<'a>(Community<'a>);

/// All communities.
struct List<'a>(&'a Communities<'a>);

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ExternalId::Unsigned(id) => serializer.serialize_u64(id),
            ExternalId::Signed(id) => serializer.serialize_i64(id),
            ExternalId::Name(name) => serializer.serialize_str(name),
        }
    }
}

impl Serialize for Ids<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.members().map(Id))
    }
}

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

impl Serialize for Community<'_> {
    /// Writes `community`, `members` and, if they have strengths, `strengths`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = 2 + usize::from(self.strengths().is_some());
        let mut fields = serializer.serialize_struct("Community", fields)?;
        fields.serialize_field("community", &Id(self.id()))?;
        fields.serialize_field("members", &Ids(*self))?;
        if let Some(strengths) = self.strengths() {
            fields.serialize_field("strengths", strengths)?;
        }
        fields.end()
    }
}

impl Serialize for Communities<'_> {
    /// Writes `device`, `rounds`, `stop` (the rule that ended the run) and `communities`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Communities", 4)?;
        fields.serialize_field("device", self.device())?;
        fields.serialize_field("rounds", &self.outcome().rounds.len())?;
        fields.serialize_field("stop", self.outcome().reason.name())?;
        fields.serialize_field("communities", &List(self))?;
        fields.end()
    }
}
