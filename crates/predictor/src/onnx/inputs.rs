//! The inputs of a graph, and the parts of a row that they take.

use crate::graph::Categories;
use crate::values::{Value, value, word_beside};
use probity_data::meant::{TRUTHS, meant, truth};
use probity_data::schema::{Attribute, Kind, OutOfDomain, Schema};
use probity_tensor::onnx::{Kind as Element, OnnxError, OnnxModel, Port};

/// The inputs through which rows enter the graph.
pub(super) enum Inputs {
    /// One input: a matrix with the columns of each attribute.
    Matrix(Vec<Columns>),
    /// An input for each attribute.
    Attributes(Vec<AttributeInput>),
}

/// An input for one attribute.
pub(super) struct AttributeInput {
    pub(super) attribute: usize,
    /// Whether the shape of the input is `[rows, 1]` rather than `[rows]`.
    pub(super) is_column: bool,
    /// Whether the input takes words.
    pub(super) is_words: bool,
    pub(super) columns: Columns,
}

/// The columns of one attribute.
pub(super) enum Columns {
    /// One number: the number of each code from `min` on, or the code itself where the list is
    /// empty.
    Number { min: i32, numbers: Vec<f64> },
    /// Indicators, one for each of so many codes from 0 on.
    Indicators(usize),
}

impl Inputs {
    pub(super) fn new(
        graph: &mut OnnxModel,
        schema: &Schema,
        categories: Categories,
    ) -> Result<Inputs, String> {
        let ports = graph.inputs().to_vec();
        if let [port] = ports.as_slice()
            && schema.attributes.len() > 1
            && attribute_of(schema, &port.name).is_none()
        {
            return Inputs::matrix(port, schema, categories);
        }
        if categories == Categories::Onehot {
            return Err(
                "with one input for each attribute, words enter as codes or as they are; leave predictor.categories out"
                    .to_owned(),
            );
        }
        let input = |port| AttributeInput::new(graph, port, schema);
        Ok(Inputs::Attributes(
            ports.iter().map(input).collect::<Result<_, _>>()?,
        ))
    }

    fn matrix(port: &Port, schema: &Schema, categories: Categories) -> Result<Inputs, String> {
        if port.kind == Some(Element::Words) {
            return Err(format!(
                "its input '{}' is a matrix of words; export it with one input for each column, called like it",
                port.name
            ));
        }
        let attributes = schema.attributes.iter();
        let named = |attribute: &Attribute| {
            let numbers = expect_numbers(attribute);
            numbers.map_err(|what| format!("its input '{}' {what}", port.name))
        };
        attributes.clone().try_for_each(named)?;
        let column = |attribute: &Attribute| match Columns::new(attribute, categories) {
            Columns::Number { .. } if port.kind == Some(Element::Truths) => {
                Columns::truths(attribute)
            }
            columns => {
                if port.kind == Some(Element::Integers) {
                    columns.expect_whole(attribute)?;
                }
                Ok(columns)
            }
        };
        let columns: Result<Vec<Columns>, String> = attributes.map(column).collect();
        let columns = columns.map_err(|what| format!("its input '{}' {what}", port.name))?;
        let width: usize = columns.iter().map(Columns::width).sum();
        match port.shape.as_deref() {
            None | Some([_, None]) => Ok(Inputs::Matrix(columns)),
            Some([_, Some(found)]) if *found == width => Ok(Inputs::Matrix(columns)),
            Some(shape) => Err(format!(
                "its input '{}' has the shape {}, but the schema's attributes make {width} columns with categories as {}; give a schema with the columns of the training, in their order, or the other predictor.categories",
                port.name,
                show(shape),
                match categories {
                    Categories::Codes => "codes",
                    Categories::Onehot => "onehot",
                }
            )),
        }
    }
}

impl AttributeInput {
    pub(super) fn new(graph: &mut OnnxModel, port: &Port, schema: &Schema) -> Result<Self, String> {
        let names = schema.attributes.iter().map(|a| a.name.as_str());
        let at = attribute_of(schema, &port.name).ok_or_else(|| {
            format!(
                "its input '{}' is no attribute of the schema ({}); expected one matrix, or one input for each attribute, called like it",
                port.name,
                names.collect::<Vec<_>>().join(", ")
            )
        })?;
        let is_column = match port.shape.as_deref() {
            Some([_]) => false,
            None | Some([_, None | Some(1)]) => true,
            Some(shape) => {
                return Err(format!(
                    "its input '{}' has the shape {}; expected [rows] or [rows, 1]",
                    port.name,
                    show(shape)
                ));
            }
        };
        let attribute = &schema.attributes[at];
        let refused = |what: String| format!("its input '{}' {what}", port.name);
        Ok(AttributeInput {
            attribute: at,
            is_column,
            is_words: port.kind == Some(Element::Words),
            columns: match port.kind {
                Some(Element::Words) => Columns::words(attribute, graph).map_err(refused)?,
                Some(Element::Truths) => Columns::truths(attribute).map_err(refused)?,
                Some(Element::Integers) => {
                    expect_numbers(attribute).map_err(refused)?;
                    let columns = Columns::new(attribute, Categories::Codes);
                    columns.expect_whole(attribute).map_err(refused)?;
                    columns
                }
                Some(Element::Floats | Element::Doubles) | None => {
                    expect_numbers(attribute).map_err(refused)?;
                    Columns::new(attribute, Categories::Codes)
                }
            },
        })
    }
}

/// Refuses words beside the numbers of `attribute`, which an input of numbers has no form for.
fn expect_numbers(attribute: &Attribute) -> Result<(), String> {
    match word_beside(attribute) {
        None => Ok(()),
        Some(word) => {
            // An input of words takes no numeric attribute.
            let or_words = match attribute.kind {
                Kind::Numeric { .. } => "",
                _ => ", or export the graph with an input of words",
            };
            Err(format!(
                "takes numbers, of which the level '{word}' of '{}' is none; make it a mark of missing values (missing = [{word:?}]){or_words}",
                attribute.name
            ))
        }
    }
}

impl Columns {
    pub(super) fn new(attribute: &Attribute, categories: Categories) -> Columns {
        let is_onehot = categories == Categories::Onehot && !attribute.is_ordered();
        let (min, max) = attribute.domain();
        match &attribute.kind {
            Kind::Categorical { .. } if is_onehot => Columns::Indicators(attribute.levels()),
            Kind::Categorical { levels, .. } => Columns::Number {
                min,
                numbers: meant(levels).map_or_else(Vec::new, |mut numbers| {
                    // The level of missing values comes after those that are named.
                    numbers.extend((numbers.len() as i32..=max).map(|code| {
                        let mark = attribute.decode(code).parse().ok();
                        mark.filter(|mark: &f64| mark.is_finite())
                            .unwrap_or(f64::NAN)
                    }));
                    numbers
                }),
            },
            Kind::Integer { .. } | Kind::Numeric { .. } => Columns::Number {
                min,
                numbers: (min..=max)
                    .map(|code| {
                        let value: Value = value(attribute, code);
                        value.number().unwrap_or(f64::NAN)
                    })
                    .collect(),
            },
        }
    }

    /// Returns the words that stand in the data, as `graph` numbers them.
    fn words(attribute: &Attribute, graph: &mut OnnxModel) -> Result<Columns, String> {
        if matches!(attribute.kind, Kind::Numeric { .. }) {
            return Err(format!(
                "takes words, but '{}' is numeric, of whose numbers bins are kept and not how they are written; \
                 declare it categorical, or export the graph with an input of floating-point numbers",
                attribute.name
            ));
        }
        let (min, max) = attribute.domain();
        let number = |code| Ok(f64::from(graph.word(&attribute.decode(code))?));
        let numbers: Result<_, OnnxError> = (min..=max).map(number).collect();
        Ok(Columns::Number {
            min,
            numbers: numbers.map_err(|error| format!("takes words: {error}"))?,
        })
    }

    /// Returns a column that is 1 where a value means true and 0 where it means false, whatever its
    /// code is.
    fn truths(attribute: &Attribute) -> Result<Columns, String> {
        let name = &attribute.name;
        if matches!(attribute.kind, Kind::Numeric { .. }) {
            return Err(format!(
                "takes truth, but '{name}' is numeric; declare it categorical with two levels, or an integer from 0 to 1"
            ));
        }
        let (min, max) = attribute.domain();
        let number = |code| {
            let word = attribute.decode(code);
            let is_missing = attribute.outside == OutOfDomain::Level && code == max;
            match truth(&word) {
                Some(is_true) => Ok(f64::from(u8::from(is_true))),
                None if is_missing => Err(format!(
                    "takes truth, which no missing value of '{name}' ('{word}') has; leave such rows out \
                     (outside = \"skip\"), or export the graph with an input of floating-point numbers or words"
                )),
                None => Err(format!(
                    "takes truth, but the level '{word}' of '{name}' means neither true nor false (in any case: {}); \
                     name the levels so in the data and in the schema, or export the graph with an input of words or numbers",
                    TRUTHS.map(|[yes, no]| format!("{yes} or {no}")).join(", ")
                )),
            }
        };
        let numbers = (min..=max).map(number);
        Ok(Columns::Number {
            min,
            numbers: numbers.collect::<Result<_, _>>()?,
        })
    }

    /// Refuses numbers of `attribute` that an input of whole numbers has no form for, and would
    /// change silently.
    fn expect_whole(&self, attribute: &Attribute) -> Result<(), String> {
        let Columns::Number { min, numbers } = self else {
            return Ok(());
        };
        let name = &attribute.name;
        for (code, &number) in (*min..).zip(numbers) {
            if number.is_nan() {
                return Err(format!(
                    "takes whole numbers, of which none is a missing value of '{name}' ('{}'); leave such rows out \
                     (outside = \"skip\"), or export the graph with an input of floating-point numbers",
                    attribute.decode(code)
                ));
            }
            if number.abs() > f64::from(i32::MAX) {
                return Err(format!(
                    "takes whole numbers, which are computed in 32 bits, but '{name}' has {number}; export the graph with \
                     an input of floating-point numbers"
                ));
            }
            let is_level = matches!(attribute.kind, Kind::Categorical { .. });
            if is_level && number.fract() != 0.0 {
                return Err(format!(
                    "takes whole numbers, but '{name}' has the level {number}; export the graph with an input of \
                     floating-point numbers"
                ));
            }
        }
        Ok(())
    }

    /// Whether levels enter by their places.
    pub(super) fn are_places(&self) -> bool {
        match self {
            Columns::Number { numbers, .. } => numbers.is_empty(),
            Columns::Indicators(_) => true,
        }
    }

    pub(super) fn width(&self) -> usize {
        match self {
            Columns::Number { .. } => 1,
            Columns::Indicators(levels) => *levels,
        }
    }

    pub(super) fn append(&self, code: i32, out: &mut Vec<f64>) {
        match self {
            Columns::Number { min, numbers } => {
                let at = usize::try_from(i64::from(code) - i64::from(*min)).ok();
                let number = at.and_then(|at| numbers.get(at)).copied();
                out.push(number.unwrap_or(f64::from(code)));
            }
            Columns::Indicators(levels) => {
                out.extend((0..*levels).map(|level| f64::from(u8::from(level as i32 == code))));
            }
        }
    }
}

/// Finds the attribute whose name an input has. Exports write a name's signs, such as a blank, as
/// underscores; so do both sides here where no name is equal and one alone fits.
pub(super) fn attribute_of(schema: &Schema, name: &str) -> Option<usize> {
    let plain = |name: &str| name.replace(|sign: char| !sign.is_ascii_alphanumeric(), "_");
    let attributes = || schema.attributes.iter().enumerate();
    let equal = attributes().find(|(_, attribute)| attribute.name == name);
    equal.map(|(at, _)| at).or_else(|| {
        let mut alike = attributes().filter(|(_, attribute)| plain(&attribute.name) == plain(name));
        let (at, _) = alike.next()?;
        alike.next().is_none().then_some(at)
    })
}

/// Returns, for each attribute, its place among the numeric attributes.
pub(super) fn numeric_places(schema: &Schema) -> Vec<Option<usize>> {
    let mut places = 0..;
    let attributes = schema.attributes.iter();
    let place = attributes.map(|attribute| match attribute.kind {
        Kind::Numeric { .. } => places.next(),
        Kind::Integer { .. } | Kind::Categorical { .. } => None,
    });
    place.collect()
}

/// Writes a declared shape in words.
pub(super) fn show(shape: &[Option<usize>]) -> String {
    let sizes: Vec<String> = shape
        .iter()
        .map(|size| size.map_or("?".to_owned(), |size| size.to_string()))
        .collect();
    format!("[{}]", sizes.join(", "))
}
