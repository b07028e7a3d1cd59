//! Column names that mean the two ends of an edge, and how names are compared.
//!
//! A name is compared by its words in lower case: `SenderAccountId`, `sender_account_id` and `Sender Account ID`
//! are `sender account id`; `id1` is `id 1`, and `srcip` is `src ip`. Two columns are the ends of an edge where
//! their names differ in one word alone, and the two words are a pair of [`END_WORDS`]: `src_ip` and `dst_ip`,
//! `nameOrig` and `nameDest`. Words that say only what an id is of ([`ID_WORDS`]) may stand in one name and not in
//! the other: `customer` and `merchant_id`.

/// Pairs of words that mean the source and the target of an edge: any of the first with any of the second.
pub const END_WORDS: &[(&[&str], &[&str])] = &[
    (
        &["source", "src"],
        &["target", "tgt", "trg", "destination", "dest", "dst", "sink"],
    ),
    (&["from"], &["to"]),
    (&["u"], &["v"]),
    (&["i"], &["j"]),
    (&["row"], &["col", "column"]),
    (&["head"], &["tail"]),
    (&["tail"], &["head"]),
    (&["orig", "origin"], &["dest", "destination", "dst"]),
    (
        &["orig", "origin", "originator", "ordering", "remitter"],
        &["bene", "beneficiary", "receiver", "recipient", "resp", "responder"],
    ),
    (
        &["sender", "send", "sending", "snd"],
        &["receiver", "recipient", "receive", "receiving", "rcv", "rcpt", "beneficiary", "bene"],
    ),
    (&["payer", "paying"], &["payee", "paid", "receiver", "recipient"]),
    (&["buyer", "purchaser"], &["seller", "vendor", "merchant", "shop", "supplier"]),
    (
        &["customer", "client", "consumer", "cardholder", "card", "account", "user"],
        &["merchant", "vendor", "seller", "shop", "store", "terminal"],
    ),
    (&["debtor"], &["creditor"]),
    (&["debit", "debited"], &["credit", "credited"]),
    (&["lender"], &["borrower"]),
    (&["borrower"], &["lender"]),
    (&["donor", "giver"], &["recipient", "donee", "taker", "receiver"]),
    (&["investor"], &["investee", "company", "startup"]),
    (&["exporter", "reporter"], &["importer", "partner"]),
    (&["supplier"], &["customer", "buyer"]),
    (&["follower"], &["followee", "followed", "following", "friend"]),
    (
        &["user", "person", "member", "ego"],
        &["friend", "alter", "contact", "neighbor", "neighbour", "follower"],
    ),
    (
        &["user", "customer", "reader", "listener", "viewer", "reviewer", "member"],
        &["item", "product", "movie", "film", "song", "track", "artist", "book", "article", "page", "group"],
    ),
    (&["caller", "calling"], &["callee", "called"]),
    (&["truster", "trustor"], &["trustee"]),
    (&["rater"], &["ratee", "rated"]),
    (&["voter"], &["votee", "candidate"]),
    (&["citing", "citer"], &["cited", "citee"]),
    (&["parent"], &["child"]),
    (&["child"], &["parent"]),
    (&["manager", "supervisor"], &["employee"]),
    (&["employee"], &["manager", "supervisor"]),
    (&["author"], &["coauthor"]),
    (&["subject"], &["object"]),
    (&["node", "vertex"], &["neighbor", "neighbour"]),
    (&["client"], &["server"]),
    (&["local"], &["remote"]),
    (&["query"], &["match", "hit"]),
    (&["predecessor"], &["successor"]),
    (&["upstream"], &["downstream"]),
];

/// Pairs of words that mean the ends of an edge only beside another word that both names have: `id1` and `id2`,
/// `start_node` and `end_node`.
pub const END_WORDS_BESIDE_ANOTHER: &[(&[&str], &[&str])] = &[
    (&["1"], &["2"]),
    (&["0"], &["1"]),
    (&["a"], &["b"]),
    (&["x"], &["y"]),
    (&["start", "begin"], &["end", "stop"]),
    (&["first"], &["second"]),
    (&["left"], &["right"]),
    (&["input", "in"], &["output", "out"]),
    (&["pickup"], &["dropoff"]),
    (&["s"], &["d", "t"]),
    (&["n"], &["m"]),
];

/// Words that say what an id is of, and not which end it is.
pub const ID_WORDS: &[&str] = &[
    "id", "ids", "uid", "guid", "uuid", "key", "pk", "no", "num", "nr", "number", "code", "name", "names", "node",
    "nodes", "vertex", "vertices", "account", "acct", "acc", "accountid", "user", "users", "username", "entity",
    "addr", "address", "ip", "ipv4", "iban", "card", "client", "customer", "person", "party", "index", "idx",
    "wallet", "the", "of", "is", "h", "host", "hostname", "computer", "machine", "device", "mac", "email", "mail",
    "phone", "msisdn", "member", "agent", "actor", "label",
];

/// Words of columns that describe an edge or its ends: names that share one are no ends, unless the table has no
/// other columns.
pub const ATTRIBUTE_WORDS: &[&str] = &[
    "date", "time", "datetime", "timestamp", "ts", "at", "day", "week", "month", "year", "hour", "minute", "port",
    "ports", "bytes", "packets", "pkts", "amount", "amt", "value", "val", "balance", "oldbalance", "newbalance",
    "sum", "total", "price", "currency", "ccy", "rate", "score", "weight", "weights", "count", "cnt", "qty",
    "quantity", "lat", "lon", "lng", "latitude", "longitude", "x", "y", "z", "w", "type", "kind", "category",
    "status", "state", "country", "city", "region", "zip", "postcode", "bank", "branch", "location", "age", "sex",
    "gender", "flag", "class", "version", "text", "title", "url", "degree", "community", "cluster", "group",
    "length", "size", "comment", "note",
];

/// Names of a column of weights.
pub const WEIGHT_WORDS: &[&str] = &[
    "weight", "weights", "w", "wt", "amount", "amt", "value", "val", "count", "cnt", "strength", "capacity",
];

/// Words of columns of times, which are no weights.
const TIME_WORDS: &[&str] = &[
    "date", "time", "datetime", "timestamp", "ts", "at", "day", "week", "month", "year", "hour", "minute",
];

/// How well two names fit each other as the ends of an edge: the least is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fit {
    /// Whether all that the names share are words for ids; else whether none is of an attribute.
    pub(super) class: FitClass,
    /// How many words they share, those for names rather than ids twice.
    shared: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FitClass {
    Ids,
    Entities,
    Attributes,
}

/// A column's name by its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColumnName {
    words: Vec<String>,
}

impl ColumnName {
    /// A name out of a file.
    pub(super) fn of(name: &[u8]) -> ColumnName {
        /// No name that means anything is longer.
        const LONGEST: usize = 128;
        let name = String::from_utf8_lossy(&name[..name.len().min(LONGEST)]);
        let words = split_words(&name);
        ColumnName { words: words.into_iter().flat_map(split_glued).collect() }
    }

    /// Whether a word of the name may mean an end of an edge.
    pub(super) fn may_be_end(&self) -> bool {
        let tables = [END_WORDS, END_WORDS_BESIDE_ANOTHER];
        let mut families = tables.into_iter().flatten();
        families.any(|(sources, targets)| {
            self.words.iter().any(|word| sources.contains(&&**word) || targets.contains(&&**word))
        })
    }

    /// How well this name and another fit as source and target, if they do.
    pub(super) fn fit(&self, target: &ColumnName) -> Option<Fit> {
        self.fit_by_one_word(target).or_else(|| self.fit_without_id_words(target))
    }

    fn fit_by_one_word(&self, target: &ColumnName) -> Option<Fit> {
        if self.words.len() != target.words.len() {
            return None;
        }
        let differs = |&at: &usize| self.words[at] != target.words[at];
        let mut places = (0..self.words.len()).filter(differs);
        let (place, None) = (places.next()?, places.next()) else { return None };
        let (a, b) = (&*self.words[place], &*target.words[place]);
        let shared: Vec<&str> = (0..self.words.len())
            .filter(|&at| at != place)
            .map(|at| &*self.words[at])
            .collect();
        let known = is_pair(END_WORDS, a, b)
            || !shared.is_empty() && is_pair(END_WORDS_BESIDE_ANOTHER, a, b);
        known.then(|| Fit::of(&shared))
    }

    fn fit_without_id_words(&self, target: &ColumnName) -> Option<Fit> {
        let [a, b] = [self, target].map(|name| {
            let mut words = name.words.iter().filter(|word| !ID_WORDS.contains(&&***word));
            match (words.next(), words.next(), &name.words[..]) {
                (Some(word), None, _) => Some(&**word),
                (None, None, [first, ..]) => Some(&**first),
                _ => None,
            }
        });
        is_pair(END_WORDS, a?, b?).then_some(Fit { class: FitClass::Ids, shared: 1 })
    }

    /// Whether this name and another differ in a number or letter of one place, as those of `other` do: then
    /// they are three of a row, and no pair.
    pub(super) fn continues(&self, first: &ColumnName, second: &ColumnName) -> bool {
        let same_but_one = |a: &ColumnName, b: &ColumnName| {
            let differs = |&at: &usize| a.words[at] != b.words[at];
            let places = || (0..a.words.len()).filter(differs);
            (a.words.len() == b.words.len() && places().count() == 1).then(|| places().next())?
        };
        let is_mark = |word: &str| word.len() == 1 || word.bytes().all(|byte| byte.is_ascii_digit());
        match (same_but_one(first, second), same_but_one(first, self), same_but_one(second, self)) {
            (Some(a), Some(b), Some(c)) => {
                a == b && b == c && [self, first, second].iter().all(|name| is_mark(&name.words[a]))
            }
            _ => false,
        }
    }

    /// Whether the name says only that the column has ids: `id`, `account_id`, `name`.
    pub(super) fn is_of_ids_only(&self) -> bool {
        !self.words.is_empty() && self.words.iter().all(|word| ID_WORDS.contains(&&**word))
    }

    /// Whether a word of the name is one of an id.
    pub(super) fn has_id_word(&self) -> bool {
        self.words.iter().any(|word| ID_WORDS.contains(&&**word))
    }

    /// Whether the name is that of an attribute.
    pub(super) fn is_attribute(&self) -> bool {
        self.words.iter().any(|word| ATTRIBUTE_WORDS.contains(&&**word))
    }

    /// Whether the name is that of a weight.
    pub(super) fn is_weight(&self) -> bool {
        matches!(&*self.words, [word] if WEIGHT_WORDS.contains(&&**word))
    }

    /// Whether the name is that of a time.
    pub(super) fn is_time(&self) -> bool {
        self.words.iter().any(|word| TIME_WORDS.contains(&&**word))
    }
}

impl Fit {
    fn of(shared: &[&str]) -> Fit {
        let class = if shared.iter().all(|word| ID_WORDS.contains(word)) {
            FitClass::Ids
        } else if shared.iter().any(|word| ATTRIBUTE_WORDS.contains(word)) {
            FitClass::Attributes
        } else {
            FitClass::Entities
        };
        let weigh = |word: &&str| if matches!(*word, "name" | "names" | "label") { 2 } else { 1 };
        Fit { class, shared: shared.iter().map(weigh).sum() }
    }
}

fn is_pair(families: &[(&[&str], &[&str])], source: &str, target: &str) -> bool {
    families.iter().any(|(sources, targets)| sources.contains(&source) && targets.contains(&target))
}

/// The words of a name in lower case: they end at anything but letters and digits, between letters and digits, and
/// before a capital that follows a small letter or begins a word of small letters.
fn split_words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    for (at, &letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            continue;
        }
        let before = at.checked_sub(1).map_or(' ', |before| letters[before]);
        let after_is_small = letters.get(at + 1).is_some_and(|after| after.is_lowercase());
        let begins = !before.is_alphanumeric()
            || letter.is_numeric() != before.is_numeric()
            || letter.is_uppercase() && (before.is_lowercase() || after_is_small);
        if begins || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// The words of a name without capitals or blanks, such as `srcip`, `nameorig` and `fromnodeid`: a word for an end
/// and words for ids.
fn split_glued(word: String) -> Vec<String> {
    let tables = [END_WORDS, END_WORDS_BESIDE_ANOTHER];
    let families = || tables.into_iter().flatten();
    let ends = || families().flat_map(|(sources, targets)| sources.iter().chain(*targets));
    let is_end = |part: &str| ends().any(|end| *end == part);
    if ID_WORDS.contains(&&*word) || ATTRIBUTE_WORDS.contains(&&*word) || is_end(&word) {
        return vec![word];
    }
    // The longest first: `destip` is `dest ip`, not `d` and the rest.
    let mut found: Option<(usize, Vec<String>)> = None;
    for end in ends() {
        let split = if let Some(rest) = word.strip_prefix(end) {
            id_words(rest).map(|rest| [vec![(*end).to_owned()], rest].concat())
        } else if let Some(rest) = word.strip_suffix(end) {
            id_words(rest).map(|rest| [rest, vec![(*end).to_owned()]].concat())
        } else {
            None
        };
        if let Some(split) = split.filter(|_| found.as_ref().is_none_or(|(most, _)| end.len() > *most)) {
            found = Some((end.len(), split));
        }
    }
    found.map(|(_, words)| words).or_else(|| id_words(&word)).unwrap_or_else(|| vec![word])
}

/// A text as words for ids, one after the other.
fn id_words(text: &str) -> Option<Vec<String>> {
    if text.is_empty() {
        return None;
    }
    let split = |word: &&&str| {
        let rest = text.strip_prefix(**word)?;
        if rest.is_empty() {
            return Some(vec![(**word).to_owned()]);
        }
        id_words(rest).map(|rest| [vec![(**word).to_owned()], rest].concat())
    };
    ID_WORDS.iter().filter(|word| word.len() > 1).find_map(|word| split(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str) -> String {
        ColumnName::of(name.as_bytes()).words.join(" ")
    }

    #[test]
    fn names_are_words() {
        for (name, expected) in [
            ("SenderAccountId", "sender account id"),
            ("sender_account_id", "sender account id"),
            ("SENDER ACCOUNT-ID", "sender account id"),
            ("FromNodeID", "from node id"),
            ("fromnodeid", "from node id"),
            ("srcip", "src ip"),
            ("saddr", "s addr"),
            ("nameorig", "name orig"),
            ("id1", "id 1"),
            ("IPAddress2", "ip address 2"),
            (":START_ID(Person)", "start id person"),
            ("Käufer", "käufer"),
            ("customer", "customer"),
            ("oldbalanceOrg", "oldbalance org"),
            ("", ""),
        ] {
            assert_eq!(words(name), expected, "{name}");
        }
    }

    fn fit(source: &str, target: &str) -> Option<FitClass> {
        let [source, target] = [source, target].map(|name| ColumnName::of(name.as_bytes()));
        source.fit(&target).map(|fit| fit.class)
    }

    #[test]
    fn names_fit_by_one_word() {
        for (source, target, expected) in [
            ("src_ip", "dst_ip", Some(FitClass::Ids)),
            ("src_port", "dst_port", Some(FitClass::Attributes)),
            ("SOURCE_SUBREDDIT", "TARGET_SUBREDDIT", Some(FitClass::Entities)),
            ("customer", "merchant_id", Some(FitClass::Ids)),
            ("start", "end", None),
            ("start_node", "end_node", Some(FitClass::Ids)),
            ("start_date", "end_date", Some(FitClass::Attributes)),
            ("a", "b", None),
            ("oldbalanceOrg", "oldbalanceDest", None),
            ("id", "name", None),
            ("to", "from", None),
            ("source", "source", None),
        ] {
            assert_eq!(fit(source, target), expected, "{source}, {target}");
        }
    }
}
