//! Common part of the GraphML and GEXF readers: the graph, its weights, and the ends of its edges.

use super::network::{Found, Network, NodeNaming};
use super::xml::{Values, Xml};
use crate::ReadOptions;
use crate::fault::Fault;
use crate::text::token;

/// Graph that is being read from XML.
pub(super) struct XmlGraph<'o> {
    pub(super) network: Network<'o>,
    /// Whether edges are directed, if the graph says.
    pub(super) directed: Option<bool>,
    /// Ids of the attribute that is an edge's weight.
    pub(super) weight_ids: AttributeIds,
    default_weight: Option<f64>,
    /// Default weight in the file.
    own_default: Option<f64>,
    has_begun: bool,
    text: String,
}

impl<'o> XmlGraph<'o> {
    /// Creates an empty graph; `default_weight` is the format's default, if it has one.
    pub(super) fn new(
        options: &'o ReadOptions,
        calls: NodeNaming,
        default_weight: Option<f64>,
    ) -> XmlGraph<'o> {
        XmlGraph {
            network: Network::new(options, calls),
            directed: None,
            weight_ids: AttributeIds::default(),
            default_weight,
            own_default: None,
            has_begun: false,
            text: String::new(),
        }
    }

    /// Begins the graph, which must be the only one in the file.
    pub(super) fn begin(&mut self, xml: &Xml<'_, '_>) -> Result<(), Fault> {
        match std::mem::replace(&mut self.has_begun, true) {
            false => Ok(()),
            true => Err(xml.fault("a second graph: expected a file of one")),
        }
    }

    /// Registers the attribute whose element has just begun as the weight of edges, with its default. `what`
    /// are such elements: `keys`, `attributes`.
    ///
    /// # Errors
    /// If several attributes of that name have different defaults, as an edge without a weight would be
    /// ambiguous.
    pub(super) fn take_weight_attribute(
        &mut self,
        xml: &mut Xml<'_, '_>,
        id: &str,
        what: &str,
    ) -> Result<(), Fault> {
        let name = &self.network.options().columns.weight;
        self.weight_ids.push(id).map_err(|why| {
            xml.fault(format!("{why} {what} of edges are called `{name}`{OF_A_TYPE}"))
        })?;
        xml.each_child(|xml| {
            if xml.name() != "default" {
                return xml.skip();
            }
            xml.read_text(&mut self.text)?;
            let default = weight(xml, &self.text)?;
            match self.own_default.replace(default) {
                Some(other) if other != default => {
                    let name = &self.network.options().columns.weight;
                    let sentence = format!(
                        "the {what} of edges called `{name}` have different defaults: leave one of them out"
                    );
                    return Err(xml.fault(sentence));
                }
                _ => self.default_weight = Some(default),
            }
            Ok(())
        })
    }

    /// Adds an edge, whose ends are the first two values.
    pub(super) fn edge<const N: usize>(
        &mut self,
        edge: &Values<N>,
        own_weight: Option<f64>,
        directed: Option<bool>,
        line: u64,
    ) -> Result<(), Fault> {
        let ends = [0, 1].map(|end| edge.get(end).unwrap_or_default());
        self.network.edge(ends, own_weight.or(self.default_weight), directed, line)
    }

    /// Returns the table; `expected` is what a file without a graph lacks.
    pub(super) fn finish(self, expected: &str) -> Result<Found, Fault> {
        if !self.has_begun {
            return Err(Fault::whole(format!("the file has no graph: expected {expected}")));
        }
        self.network.finish(self.directed)
    }
}

/// Ids of attributes with one name. A file may have one for each type: NetworkX writes weights that are
/// integers and fractions so.
#[derive(Default)]
pub(super) struct AttributeIds(Vec<String>);

impl AttributeIds {
    /// Number of types in GraphML and GEXF together.
    const MOST: usize = 16;

    /// Adds an id.
    ///
    /// # Errors
    /// If the id exists, or there are too many: the beginning of a sentence.
    pub(super) fn push(&mut self, id: &str) -> Result<(), String> {
        if self.have(Some(id)) {
            return Err("two".into());
        }
        if self.0.len() == AttributeIds::MOST {
            return Err(format!("more than {}", AttributeIds::MOST));
        }
        self.0.push(id.to_owned());
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an element's value is of one of these attributes.
    pub(super) fn have(&self, id: Option<&str>) -> bool {
        id.is_some_and(|id| self.0.iter().any(|own| own == id))
    }
}

/// End of the sentence that [`AttributeIds::push`] begins.
pub(super) const OF_A_TYPE: &str = ": expected one for each type, each with an id of its own";

/// Reads the values of an edge; the first two, source and target, are required.
pub(super) fn take_edge<const N: usize>(
    xml: &Xml<'_, '_>,
    edge: &mut Values<N>,
) -> Result<(), Fault> {
    xml.take(edge)?;
    match (edge.get(0), edge.get(1)) {
        (Some(_), Some(_)) => Ok(()),
        _ => Err(xml.fault("the edge has no source or no target")),
    }
}

/// Parses a text as a weight.
pub(super) fn weight(xml: &Xml<'_, '_>, text: &str) -> Result<f64, Fault> {
    token::weight(text.trim().as_bytes()).map_err(|sentence| xml.fault(sentence))
}

/// Sets the weight of an edge from a text.
pub(super) fn set_weight(
    xml: &Xml<'_, '_>,
    own: &mut Option<f64>,
    text: &str,
) -> Result<(), Fault> {
    match own.replace(weight(xml, text)?) {
        None => Ok(()),
        Some(_) => Err(xml.fault("the edge has two weights: expected one")),
    }
}
