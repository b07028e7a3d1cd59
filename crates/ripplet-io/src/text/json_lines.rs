//! JSON lines: an object a line, whose keys name the columns.
//!
//! ```text
//! {"source": "Ann", "target": "Bob", "weight": 0.5}
//! {"target": 7, "source": "Ann", "weight": 2, "tags": ["x"]}
//! ```
//!
//! The first object decides which keys are read, as a header does, together with the values below. Keys may
//! be in any order, and others are skipped with any value. A value that is read is a text or a number. Errors
//! have the line and the key: a missing or duplicate key, `null`, a truth value, a list, an object, and an id
//! that is a fraction or exceeds 64 bits. The text `"7"` and the number 7 are the same id. Blank lines and
//! those that begin with `#` or `%` are skipped.

use super::header::Sample;
use super::row::Row;
use super::token::{self, show};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// Keys of an edge that are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) source: String,
    pub(super) target: String,
    pub(super) weight: Option<String>,
}

/// What [`Value::Other`] calls a null.
const NULL: &str = "null";

/// Value that is read.
#[derive(Debug)]
enum Value<'a> {
    Text(Cow<'a, str>),
    Integer(String),
    /// A number with a fraction or an exponent, or beyond 64 bits.
    Float(f64),
    /// Any other value, by its type.
    Other(&'static str),
}

impl<'a> Value<'a> {
    /// Returns the value as a field of a table.
    fn field(self) -> Result<Cow<'a, [u8]>, &'static str> {
        match self {
            Value::Text(Cow::Borrowed(text)) => Ok(Cow::Borrowed(text.as_bytes())),
            Value::Text(Cow::Owned(text)) | Value::Integer(text) => {
                Ok(Cow::Owned(text.into_bytes()))
            }
            Value::Float(number) => Ok(Cow::Owned(format!("{number:?}").into_bytes())),
            Value::Other(what) => Err(what),
        }
    }

    /// Returns the value of a key as an id.
    fn id(self, key: &str) -> Result<Cow<'a, [u8]>, String> {
        let key = || show(key.as_bytes());
        if let Value::Float(number) = self {
            return Err(format!(
                "the key `{}` has the number {number:?}: expected a text, or an integer of 64 bits",
                key()
            ));
        }
        match self.field() {
            Ok(field) if field.is_empty() => {
                Err(format!("the key `{}` is empty: expected an id", key()))
            }
            Ok(field) => Ok(field),
            Err(what) => {
                Err(format!("the key `{}` has {what}: expected a text or an integer", key()))
            }
        }
    }

    /// Returns the value of a key as a weight.
    fn weight(self, key: &str) -> Result<f64, String> {
        let field = self.field().map_err(|what| {
            format!("the key `{}` has {what}: expected a number", show(key.as_bytes()))
        })?;
        token::weight(&field)
    }
}

impl Keys {
    /// Returns the edge of a line, if it is not blank.
    ///
    /// # Errors
    /// If the line is invalid.
    pub(super) fn row<'a>(&self, line: &'a [u8]) -> Result<Row<'a>, String> {
        let [source, target, weight] = self.values(line)?;
        let source = source.ok_or_else(|| missing(&self.source))?.id(&self.source)?;
        let target = match self.source == self.target {
            true => source.clone(),
            false => target.ok_or_else(|| missing(&self.target))?.id(&self.target)?,
        };
        let weight = match &self.weight {
            Some(key) => Some(weight.ok_or_else(|| missing(key))?.weight(key)?),
            None => None,
        };
        Ok(Row { source, target, weight })
    }

    /// Returns the vertex of a line, the value of `source`, and its community, that of `target`, which may be null or empty.
    ///
    /// # Errors
    /// If the line is invalid.
    pub(super) fn labelled<'a>(&self, line: &'a [u8]) -> Result<Labelled<'a>, String> {
        let [vertex, label, _] = self.values(line)?;
        let vertex = vertex.ok_or_else(|| missing(&self.source))?.id(&self.source)?;
        if self.source == self.target {
            return Ok((vertex.clone(), Some(vertex)));
        }
        let label = match label.ok_or_else(|| missing(&self.target))? {
            Value::Other(NULL) => None,
            Value::Text(text) if text.is_empty() => None,
            label => Some(label.id(&self.target)?),
        };
        Ok((vertex, label))
    }

    /// Returns the values of the keys in a line.
    fn values<'a>(&self, line: &'a [u8]) -> Result<[Option<Value<'a>>; 3], String> {
        let mut found = [const { None }; 3];
        let wanted = [Some(&*self.source), Some(&*self.target), self.weight.as_deref()];
        each(line, |key, at| match wanted.iter().position(|wanted| *wanted == Some(key)) {
            Some(place) if found[place].is_some() => {
                Err(format!("the key `{}` is given twice: expected it once", show(key.as_bytes())))
            }
            Some(place) => {
                found[place] = Some(at.read()?);
                Ok(())
            }
            None => at.pass_over(),
        })?;
        Ok(found)
    }
}

/// The id of a vertex, and of its community if it has one.
pub(super) type Labelled<'a> = (Cow<'a, [u8]>, Option<Cow<'a, [u8]>>);

fn missing(key: &str) -> String {
    format!("the key `{}` is missing: expected it in each line", show(key.as_bytes()))
}

/// Returns the first lines as rows of a table: the keys of the first object, and the values of all objects
/// under them.
///
/// # Errors
/// If the first line is invalid; errors of other lines are reported when they are read.
pub(super) fn sample<'a>(lines: &[&'a [u8]]) -> Result<Sample<'a>, String> {
    let mut keys: Vec<String> = Vec::new();
    each(lines.first().copied().unwrap_or_default(), |key, at| {
        keys.push(key.to_owned());
        at.pass_over()
    })?;
    let places: HashMap<&str, usize> = (0..).zip(&keys).map(|(at, key)| (&**key, at)).collect();
    let places = &places;
    let values = |line: &&'a [u8]| {
        let mut row = vec![Cow::Borrowed(&b""[..]); keys.len()];
        each(line, |key, at| {
            match places.get(key) {
                Some(&place) => row[place] = at.read()?.field().unwrap_or_default(),
                None => at.pass_over()?,
            }
            Ok(())
        })
        .ok()?;
        Some(row)
    };
    let rows = lines.iter().filter_map(values).collect();
    let names = keys.iter().map(|key| Cow::Owned(key.clone().into_bytes())).collect();
    Ok(Sample::new(names, rows))
}

/// Value of an object that is read or skipped.
struct At<'m, 'a> {
    next: &'m mut dyn FnMut(bool) -> Result<Option<Value<'a>>, String>,
}

impl<'a> At<'_, 'a> {
    fn read(self) -> Result<Value<'a>, String> {
        Ok((self.next)(true)?.unwrap_or(Value::Other("nothing")))
    }

    fn pass_over(self) -> Result<(), String> {
        (self.next)(false).map(drop)
    }
}

/// Calls `visit` for each key of the object that a line is.
fn each<'a>(
    line: &'a [u8],
    visit: impl FnMut(&str, At<'_, 'a>) -> Result<(), String>,
) -> Result<(), String> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let read = Deserializer::deserialize_map(&mut json, Object { visit });
    let read = read.and_then(|()| json.end());
    read.map_err(|error| {
        let sentence = error.to_string();
        // The parser adds the position, which is the line's.
        let sentence = sentence.split(" at line ").next().unwrap_or_default();
        if error.is_data() {
            return sentence.to_owned();
        }
        let shown = show(line.trim_ascii());
        format!("expected a JSON object, such as {{\"source\": 1, \"target\": 2}}, found `{shown}`: {sentence}")
    })
}

struct Object<F> {
    visit: F,
}

impl<'de, F: FnMut(&str, At<'_, 'de>) -> Result<(), String>> Visitor<'de> for Object<F> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object, such as {\"source\": 1, \"target\": 2}")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(Text)? {
            let mut fault = None;
            let mut next = |is_read: bool| {
                let value = match is_read {
                    true => map.next_value_seed(Scalar).map(Some),
                    false => map.next_value::<IgnoredAny>().map(|_| None),
                };
                value.map_err(|error| {
                    fault = Some(error);
                    String::new()
                })
            };
            let visited = (self.visit)(&key, At { next: &mut next });
            match (visited, fault) {
                (_, Some(error)) => return Err(error),
                (Err(sentence), None) => return Err(de::Error::custom(sentence)),
                (Ok(()), None) => {}
            }
        }
        Ok(())
    }
}

/// Text, borrowed from the line if it has no escapes.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Cow<'de, str>, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// Any value, of which texts and numbers are kept.
struct Scalar;

impl<'de> DeserializeSeed<'de> for Scalar {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value<'de>, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Scalar {
    type Value = Value<'de>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a text or a number")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value::Integer(itoa::Buffer::new().format(number).to_owned()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'de>, E> {
        Ok(Value::Integer(itoa::Buffer::new().format(number).to_owned()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'de>, E> {
        Ok(Value::Float(number))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value<'de>, E> {
        Ok(Value::Other("a truth value"))
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Other(NULL))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Other("an object"))
    }
}
