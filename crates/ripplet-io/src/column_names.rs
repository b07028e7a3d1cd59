//! Known names of columns, and their comparison.

/// Pairs of column names that mean the source and the target of an edge.
///
/// A name is compared by its words in lower case (`SenderAccountId` is `sender account id`, and so is
/// `sender_account_id`), less those that only say what an id is of: see [`UNSPECIFIC_WORDS`].
pub const KNOWN_COLUMN_PAIRS: &[(&str, &str)] = &[
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("source", "sink"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("src", "trg"),
    ("from", "to"),
    ("head", "tail"),
    ("tail", "head"),
    ("left", "right"),
    ("u", "v"),
    ("i", "j"),
    ("row", "col"),
    ("row", "column"),
    ("srcip", "dstip"),
    ("saddr", "daddr"),
    ("nameorig", "namedest"),
    ("orig", "dest"),
    ("orig", "resp"),
    ("origin", "destination"),
    ("origin", "dest"),
    ("originator", "beneficiary"),
    ("originator", "receiver"),
    ("orig", "bene"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("send", "receive"),
    ("payer", "payee"),
    ("payer", "receiver"),
    ("debtor", "creditor"),
    ("debit", "credit"),
    ("remitter", "beneficiary"),
    ("ordering", "beneficiary"),
    ("buyer", "seller"),
    ("customer", "merchant"),
    ("client", "merchant"),
    ("card", "merchant"),
    ("user", "merchant"),
    ("user", "item"),
    ("user", "product"),
    ("user", "friend"),
    ("user", "movie"),
    ("customer", "product"),
    ("borrower", "lender"),
    ("lender", "borrower"),
    ("donor", "recipient"),
    ("exporter", "importer"),
    ("reporter", "partner"),
    ("supplier", "customer"),
    ("caller", "callee"),
    ("calling", "called"),
    ("follower", "followee"),
    ("follower", "followed"),
    ("follower", "following"),
    ("truster", "trustee"),
    ("trustor", "trustee"),
    ("rater", "ratee"),
    ("rater", "rated"),
    ("citing", "cited"),
    ("citer", "citee"),
    ("parent", "child"),
    ("manager", "employee"),
    ("employee", "manager"),
    ("person", "friend"),
    ("author", "coauthor"),
    ("subject", "object"),
    ("input", "output"),
    ("ego", "alter"),
    ("node", "neighbor"),
    ("node", "neighbour"),
    ("vertex", "neighbor"),
    ("vertex", "neighbour"),
    ("query", "match"),
    ("client", "server"),
    ("local", "remote"),
    ("first", "second"),
];

/// Pairs of [`KNOWN_COLUMN_PAIRS`] whose ends are of two kinds: the user 1 is not the item 1.
const PAIRS_OF_TWO_KINDS: &[(&str, &str)] = &[
    ("customer", "merchant"),
    ("client", "merchant"),
    ("card", "merchant"),
    ("user", "merchant"),
    ("user", "item"),
    ("user", "product"),
    ("user", "movie"),
    ("customer", "product"),
];

/// Words that describe an id, not the end of an edge: ignored in comparisons.
pub const UNSPECIFIC_WORDS: &[&str] = &[
    "id", "ids", "uid", "guid", "uuid", "key", "no", "num", "nr", "number", "code", "name",
    "names", "node", "nodes", "vertex", "account", "acct", "acc", "user", "users", "entity",
    "addr", "address", "ip", "iban", "card", "client", "customer", "person", "party", "index",
    "idx", "label", "wallet", "the", "of", "is",
];

/// Words of columns with the time, place or kind of something: neither ids nor weights.
const CIRCUMSTANCE_WORDS: &[&str] = &[
    "date",
    "datetime",
    "time",
    "timestamp",
    "year",
    "quarter",
    "month",
    "week",
    "weekday",
    "day",
    "hour",
    "minute",
    "season",
    "epoch",
    "created",
    "updated",
    "country",
    "region",
    "state",
    "city",
    "zip",
    "postcode",
    "location",
    "lat",
    "latitude",
    "lon",
    "lng",
    "longitude",
    "port",
    "currency",
    "bank",
    "type",
    "kind",
    "status",
    "gender",
    "sex",
    "flag",
];

/// Words of columns with measurements: no ids.
const QUANTITY_WORDS: &[&str] = &[
    "amount",
    "amt",
    "sum",
    "total",
    "price",
    "cost",
    "fee",
    "salary",
    "income",
    "revenue",
    "sales",
    "profit",
    "budget",
    "balance",
    "newbalance",
    "oldbalance",
    "count",
    "counts",
    "quantity",
    "qty",
    "frequency",
    "freq",
    "population",
    "percent",
    "percentage",
    "ratio",
    "rate",
    "share",
    "average",
    "mean",
    "median",
    "score",
    "rating",
    "ratings",
    "rank",
    "distance",
    "length",
    "duration",
    "age",
    "size",
    "height",
    "width",
    "area",
    "volume",
    "mass",
    "speed",
    "temperature",
    "bytes",
    "packets",
    "pkts",
    "weight",
    "weights",
    "value",
    "strength",
    "capacity",
    "probability",
    "confidence",
    "similarity",
    "correlation",
];

/// Whether a name is that of a measurement, time or place.
pub(crate) fn measures(name: &[u8]) -> bool {
    let (start, end) = PAIR_WITH_ID;
    let is_bare = |word: &str| name.trim_ascii().eq_ignore_ascii_case(word.as_bytes());
    is_bare(start) || is_bare(end) || words(name).iter().any(|word| is_measure_word(word))
}

/// Whether two names, in any order, are those of two kinds of vertices, such as `userId` and `movieId`.
pub(crate) fn are_of_two_kinds(one: &[u8], other: &[u8]) -> bool {
    let (one, other) = (Name::of(one), Name::of(other));
    PAIRS_OF_TWO_KINDS.iter().any(|&(a, b)| one.is(a) && other.is(b) || one.is(b) && other.is(a))
}

/// Whether a name is that of a time, place or kind.
pub(crate) fn is_circumstance(name: &[u8]) -> bool {
    words(name).iter().any(|word| CIRCUMSTANCE_WORDS.contains(&word.as_str()))
}

/// Whether a name is that of an id, or of a row's number.
pub(crate) fn is_id_name(name: &[u8]) -> bool {
    const WORDS: [&str; 9] = ["id", "ids", "index", "idx", "key", "nr", "row", "uuid", "unnamed"];
    words(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether a name is that of the numbers of rows.
pub(crate) fn is_row_name(name: &[u8]) -> bool {
    const WORDS: [&str; 5] = ["index", "idx", "nr", "row", "unnamed"];
    words(name).first().is_some_and(|word| WORDS.contains(&word.as_str()))
}

fn is_measure_word(word: &str) -> bool {
    CIRCUMSTANCE_WORDS.contains(&word) || QUANTITY_WORDS.contains(&word)
}

/// Last characters in which the names of two ends differ: `id1` and `id2`, `user_a` and `user_b`.
const ENUMERATIONS: &[(&str, &str)] = &[("1", "2"), ("0", "1"), ("a", "b"), ("i", "j")];

/// Names of a column of weights.
pub const KNOWN_WEIGHT_NAMES: &[&str] =
    &["weight", "weights", "w", "amount", "amt", "value", "count", "strength", "capacity"];

/// Known names of the first column of a table that describes vertices, not edges.
pub(crate) const VERTEX_NAMES: &[&str] =
    &["id", "node", "vertex", "name", "user", "account", "customer", "entity", "person"];

/// Words of a column's name.
pub(crate) struct Name {
    whole: String,
    /// Without words for identifiers alone.
    without_id: String,
    /// Without all unspecific words.
    specific: String,
    /// Whether the name is one word without a word for ids.
    is_bare: bool,
}

/// Names of the two ends if they include a word for an id, such as `START_ID` and `END_ID`: alone they may be
/// times.
pub const PAIR_WITH_ID: (&str, &str) = ("start", "end");

impl Name {
    pub(crate) fn of(name: &[u8]) -> Name {
        let words = words(name);
        let without = |list: &[&str]| {
            let kept = words.iter().map(String::as_str).filter(|word| !list.contains(word));
            kept.collect::<Vec<_>>().join(" ")
        };
        let without_id = without(&["id", "ids", "key", "no", "number", "name", "code"]);
        let specific = without(UNSPECIFIC_WORDS);
        let is_bare = name.trim_ascii().len() == specific.len();
        Name { whole: words.join(" "), without_id, specific, is_bare }
    }

    fn is(&self, name: &str) -> bool {
        self.whole == name || self.without_id == name || self.specific == name
    }

    /// Whether two names are a known pair.
    pub(crate) fn is_source_of(&self, other: &Name) -> bool {
        KNOWN_COLUMN_PAIRS.iter().any(|&(source, target)| self.is(source) && other.is(target))
    }

    /// Whether two names are `start` and `end` with a word for an id, or differ in one word of a known pair,
    /// and the other words are not those of a measurement: `source computer` and `target computer`.
    pub(crate) fn is_like_source_of(&self, other: &Name) -> bool {
        let (start, end) = PAIR_WITH_ID;
        if self.is(start) && other.is(end) && !self.is_bare && !other.is_bare {
            return true;
        }
        let (a, b): (Vec<&str>, Vec<&str>) =
            (self.whole.split(' ').collect(), other.whole.split(' ').collect());
        let mut differ = a.iter().zip(&b).filter(|(a, b)| a != b);
        let (Some((one, two)), None) = (differ.next(), differ.next()) else { return false };
        a.len() == b.len()
            && !a.iter().any(|word| is_measure_word(word))
            && KNOWN_COLUMN_PAIRS.contains(&(one, two))
    }

    /// Returns the common part of two names that differ in a last number or character alone: `id 1` and `id
    /// 2`.
    pub(crate) fn is_numbered_before(&self, other: &Name) -> Option<&str> {
        ENUMERATIONS.iter().find_map(|&(first, second)| {
            let stem = self.whole.strip_suffix(first)?;
            // `na`, `nb` is no numbering, `n a`, `n b` and `n1`, `n2` are.
            let by_letter = first.bytes().all(|byte| byte.is_ascii_alphabetic());
            let is_stem = !stem.trim_end().is_empty()
                && (!by_letter || stem.ends_with(' '))
                && !KNOWN_WEIGHT_NAMES.contains(&stem.trim_end());
            let is_same = other.whole.strip_suffix(second) == Some(stem);
            (is_same && is_stem).then(|| stem.trim_end())
        })
    }
}

/// Whether a name is one of [`KNOWN_WEIGHT_NAMES`].
pub(crate) fn is_weight_name(name: &[u8]) -> bool {
    matches!(&*words(name), [word] if KNOWN_WEIGHT_NAMES.contains(&word.as_str()))
}

/// Whether a name is that of a column of graphs: `graph`, `Graph`, `graph_id`, `graph no`.
pub(crate) fn is_graph_name(name: &[u8]) -> bool {
    let words = words(name);
    let of_ids = |word: &String| ["id", "no", "number", "index", "name"].contains(&word.as_str());
    words.split_first().is_some_and(|(first, others)| first == "graph" && others.iter().all(of_ids))
}

/// Returns the words of a name in lower case: `nameOrig`, `name_orig` and `Name Orig` are the same two.
pub(crate) fn words(name: &[u8]) -> Vec<String> {
    let name = String::from_utf8_lossy(name);
    let name = without_id_space(&name);
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_uppercase() && !before.is_uppercase() || !before.is_alphanumeric();
        if letter.is_alphanumeric() {
            if begins || words.is_empty() {
                words.push(String::new());
            }
            let word = words.last_mut().expect("one was pushed");
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    // `FromNodeId` is split by capitals; `fromnodeid` by known suffixes.
    if let [word] = &mut *words {
        for end in ["nodeid", "userid", "accountid", "id"] {
            if let Some(stem) = word.strip_suffix(end).filter(|stem| stem.len() > 1) {
                *word = stem.to_owned();
                break;
            }
        }
    }
    words
}

/// Returns a name without the id space that Neo4j's tables append: `:START_ID(Person)`.
fn without_id_space(name: &str) -> &str {
    let name = name.trim();
    match name.split_once('(') {
        Some((before, space)) if before.starts_with(':') && space.ends_with(')') => before,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page has the lists that the reader uses.
    #[test]
    fn the_page_lists_what_is_known() {
        let page = include_str!("../../../docs/tables.md");
        let blocks: Vec<String> = page
            .split("```text\n")
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap_or_default().replace('\n', " "))
            .collect();
        let pairs = KNOWN_COLUMN_PAIRS.iter().map(|(source, target)| format!("{source} {target}"));
        let pairs: Vec<String> = pairs.collect();
        for list in [
            pairs.join(", "),
            UNSPECIFIC_WORDS.join(", "),
            CIRCUMSTANCE_WORDS.join(", "),
            QUANTITY_WORDS.join(", "),
            KNOWN_WEIGHT_NAMES.join(", "),
        ] {
            assert!(blocks.iter().any(|block| block.trim() == list), "docs/tables.md lacks {list}");
        }
    }

    #[test]
    fn names_are_compared_by_their_words() {
        for (name, expected) in [
            ("nameOrig", "name orig"),
            ("SENDER_ACCOUNT_ID", "sender account id"),
            ("Payer Id", "payer id"),
            ("FromNodeId", "from node id"),
            (":START_ID", "start id"),
            (":START_ID(Person)", "start id"),
            ("amount (EUR)", "amount eur"),
            ("fromnodeid", "from"),
            ("id", "id"),
        ] {
            assert_eq!(words(name.as_bytes()).join(" "), expected, "{name}");
        }
    }
}
