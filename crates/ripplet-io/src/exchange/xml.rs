//! The tags and texts of an XML file, with their lines, in bounded memory.
//!
//! Names are compared without their prefix. Of references, only those to the five predefined entities and to
//! characters are known: a file that needs its document type's own entities is refused, so that none can grow.

use super::stream::{LONGEST_PIECE, Meter, Stream};
use crate::fault::Fault;
use crate::text::Text;
use quick_xml::XmlVersion;
use quick_xml::errors::Error;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::attributes::Attributes;
use quick_xml::events::{BytesDecl, Event};
use quick_xml::reader::Reader;
use std::fmt::{self, Display, Write as _};

/// Elements within one another: formats of graphs need ten.
const DEEPEST: usize = 256;

/// Next item of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The begin of an element, whose name and attributes the [`Xml`] then has.
    Begin,
    /// The end of an element.
    End,
    /// A piece of text, which the [`Xml`] then has.
    Text,
    /// The end of the file.
    EndOfFile,
}

/// An XML file that is being read.
pub(super) struct Xml<'t, 'a> {
    reader: Reader<Stream<'t, 'a>>,
    meter: &'t Meter,
    buffer: Vec<u8>,
    /// The name of the element that begins, and its attributes as they stand in the file.
    name: String,
    attributes: String,
    /// The text that is next.
    text: String,
    /// The lines of the elements that are open.
    open: Vec<u64>,
    /// The line of the item.
    line: u64,
}

/// The values of some attributes of an element, `None` for those that it has not.
#[derive(Debug)]
pub(super) struct Values<const N: usize> {
    names: [&'static str; N],
    texts: [String; N],
    given: [bool; N],
}

impl<const N: usize> Values<N> {
    /// No values yet, of attributes with these names.
    pub(super) fn of(names: [&'static str; N]) -> Values<N> {
        Values { names, texts: [const { String::new() }; N], given: [false; N] }
    }

    /// Returns the value of the attribute with this place among the names.
    pub(super) fn get(&self, at: usize) -> Option<&str> {
        self.given[at].then_some(&*self.texts[at])
    }
}

impl<'t, 'a> Xml<'t, 'a> {
    pub(super) fn new(text: &'t mut Text<'a>, meter: &'t Meter) -> Xml<'t, 'a> {
        let mut reader = Reader::from_reader(Stream::new(text, meter));
        reader.config_mut().expand_empty_elements = true;
        Xml {
            reader,
            meter,
            buffer: Vec::new(),
            name: String::new(),
            attributes: String::new(),
            text: String::new(),
            open: Vec::new(),
            line: 1,
        }
    }

    /// Returns the line of the item that was read last.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Returns the name of the element that begins.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns a fault of the item that was read last.
    pub(super) fn fault(&self, sentence: impl Into<String>) -> Fault {
        Fault::line(self.line, sentence.into())
    }

    /// Reads up to the next begin, end or text.
    pub(super) fn next(&mut self) -> Result<Item, Fault> {
        loop {
            self.line = self.meter.line();
            self.meter.renew();
            self.buffer.clear();
            let event = match self.reader.read_event_into(&mut self.buffer) {
                Ok(event) => event,
                Err(error) => return Err(self.refused(error)),
            };
            match event {
                Event::Start(tag) | Event::Empty(tag) => {
                    self.name.clear();
                    self.name.push_str(tag.local_name().as_ref());
                    self.attributes.clear();
                    self.attributes.push_str(tag.attributes_raw());
                    if self.open.len() == DEEPEST {
                        let sentence =
                            format!("elements more than {DEEPEST} deep: expected a graph");
                        return Err(self.fault(sentence));
                    }
                    self.open.push(self.line);
                    return Ok(Item::Begin);
                }
                Event::End(_) => {
                    self.open.pop();
                    return Ok(Item::End);
                }
                Event::Text(text) => {
                    self.text.clear();
                    self.text.push_str(&text.xml10_content());
                    return Ok(Item::Text);
                }
                Event::CData(text) => {
                    self.text.clear();
                    self.text.push_str(&text.xml10_content());
                    return Ok(Item::Text);
                }
                Event::GeneralRef(reference) => {
                    self.text.clear();
                    let known = match reference.resolve_char_ref() {
                        Ok(Some(character)) => {
                            self.text.push(character);
                            true
                        }
                        Ok(None) => resolve_predefined_entity(&reference).is_some_and(|text| {
                            self.text.push_str(text);
                            true
                        }),
                        Err(_) => false,
                    };
                    if !known {
                        let name = shown(&*reference);
                        return Err(self.fault(unknown_reference(&name)));
                    }
                    return Ok(Item::Text);
                }
                Event::Decl(declaration) => {
                    if let Some(encoding) = other_encoding(&declaration) {
                        let sentence = format!("the text is {encoding}: convert it to UTF-8");
                        return Err(Fault::line(self.line, sentence));
                    }
                }
                Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {}
                Event::Eof => return self.end(),
            }
        }
    }

    fn end(&self) -> Result<Item, Fault> {
        match self.open.last() {
            None => Ok(Item::EndOfFile),
            Some(begin) => Err(self.fault(format!(
                "the file ends within the element that line {begin} begins: it was cut short"
            ))),
        }
    }

    /// Returns the fault for an error of the parser.
    fn refused(&mut self, error: Error) -> Fault {
        if self.meter.is_used_up() {
            let most = LONGEST_PIECE >> 20;
            return self.fault(format!(
                "a tag, a text or a comment of more than {most} MiB: this is no file of a graph"
            ));
        }
        match (self.reader.get_mut().failed(), self.open.last()) {
            (Some(fault), _) => fault,
            _ if matches!(error, Error::Encoding(_)) => {
                self.fault("the text is not UTF-8: convert the file")
            }
            (None, Some(begin)) if self.meter.has_ended() => self.fault(format!(
                "the file ends within a tag, in the element that line {begin} begins: it was cut short"
            )),
            _ => self.fault(format!("this is no XML: {}", shown(&error))),
        }
    }

    /// Takes the values of the attributes of the element that begins.
    pub(super) fn take<const N: usize>(&self, values: &mut Values<N>) -> Result<(), Fault> {
        values.given = [false; N];
        let mut attributes = Attributes::new(&self.attributes, 0);
        // A tag of many attributes would take the square of their number.
        for attribute in attributes.with_checks(false) {
            let attribute = attribute
                .map_err(|error| self.fault(format!("this is no XML: {}", shown(&error))))?;
            let name = attribute.key.local_name();
            let Some(at) = values.names.iter().position(|known| *known == name.as_ref()) else {
                continue;
            };
            if values.given[at] {
                let sentence = format!("the attribute `{}` is given twice", values.names[at]);
                return Err(self.fault(sentence));
            }
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| {
                let name = values.names[at];
                self.fault(format!("the attribute `{name}`: {}", shown(&error)))
            })?;
            values.given[at] = true;
            values.texts[at].clear();
            values.texts[at].push_str(&value);
        }
        Ok(())
    }

    /// Skips the rest of the element that has just begun.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        self.each_child(|xml| xml.skip())
    }

    /// Calls `child` for each element in the one that has just begun, of which it must read all.
    pub(super) fn each_child(
        &mut self,
        mut child: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        loop {
            match self.next()? {
                Item::Begin => child(self)?,
                Item::End | Item::EndOfFile => return Ok(()),
                Item::Text => {}
            }
        }
    }

    /// Reads the text in the element that has just begun, without that of elements in it.
    pub(super) fn read_text(&mut self, into: &mut String) -> Result<(), Fault> {
        into.clear();
        loop {
            match self.next()? {
                Item::Begin => self.skip()?,
                Item::End | Item::EndOfFile => return Ok(()),
                Item::Text if into.len() + self.text.len() > LONGEST_PIECE => {
                    return Err(self.fault("a text of more than 1 MiB: this is no file of a graph"));
                }
                Item::Text => into.push_str(&self.text),
            }
        }
    }

    /// Reads the whole file, whose element must have a name, and calls `child` for each element in that.
    pub(super) fn document(
        &mut self,
        name: &str,
        child: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.root(name)?;
        self.each_child(child)?;
        while self.next()? != Item::EndOfFile {}
        Ok(())
    }

    /// Reads up to the begin of the file's element, which must have a name.
    fn root(&mut self, name: &str) -> Result<(), Fault> {
        loop {
            match self.next()? {
                Item::Begin if self.name == name => return Ok(()),
                Item::Begin => {
                    let found = shown(&self.name);
                    return Err(self.fault(format!("expected <{name}>, found <{found}>")));
                }
                Item::Text if self.text.trim().is_empty() => {}
                Item::Text => {
                    let found = shown(self.text.trim());
                    return Err(self.fault(format!("expected <{name}>, found `{found}`")));
                }
                Item::End | Item::EndOfFile => {
                    return Err(Fault::whole(format!(
                        "the file has no <{name}>: it is empty, or cut short"
                    )));
                }
            }
        }
    }
}

fn unknown_reference(name: &str) -> String {
    format!(
        "`&{name};` is none of the characters that XML itself names: write the character, or its number"
    )
}

/// Returns the encoding that a declaration names, if it is not UTF-8 or a part of that.
fn other_encoding(declaration: &BytesDecl<'_>) -> Option<String> {
    let name = declaration.encoding()?.ok()?;
    let known = ["utf-8", "utf8", "us-ascii", "ascii"];
    let is_known = known.iter().any(|known| name.eq_ignore_ascii_case(known));
    (!is_known).then(|| shown(&*name))
}

/// Returns a part of the file for a message: shortened, and without control characters.
fn shown(what: &(impl Display + ?Sized)) -> String {
    /// Largest number of characters of a parser's message.
    const LONGEST: usize = 160;
    /// Accepts a bounded number of characters.
    struct Cut(String);
    impl fmt::Write for Cut {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for letter in text.chars() {
                if self.0.len() >= LONGEST {
                    return Err(fmt::Error);
                }
                match letter.is_control() {
                    true => self.0.extend(letter.escape_default()),
                    false => self.0.push(letter),
                }
            }
            Ok(())
        }
    }
    let mut cut = Cut(String::new());
    if write!(cut, "{what}").is_err() {
        cut.0.push('…');
    }
    cut.0
}
