//! The shape of a divide-and-conquer tree.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::errors::KMeansError;

/// The largest number of leaves.
pub const MAX_LEAVES: u64 = 1 << 16;

/// The shape of a tree: how many children the nodes of each level have. `1x16` is one root over 16
/// leaves, `1x4x4` one over 4 nodes over 4 leaves each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tree {
    children: Vec<u64>,
}

impl Tree {
    /// Creates a tree of one root over `leaves` leaves.
    ///
    /// # Errors
    /// No leaf, or too many.
    pub fn flat(leaves: u64) -> Result<Tree, KMeansError> {
        Tree::new(vec![leaves])
    }

    pub(crate) fn new(children: Vec<u64>) -> Result<Tree, KMeansError> {
        let tree = Tree { children };
        let refused = |problem: String| KMeansError::Tree {
            tree: tree.to_string(),
            problem,
        };
        if tree.children.contains(&0) {
            return Err(refused("a node without children has no rows".to_owned()));
        }
        let leaves = tree
            .children
            .iter()
            .try_fold(1_u64, |leaves, &children| leaves.checked_mul(children));
        match leaves {
            Some(leaves) if leaves <= MAX_LEAVES => Ok(tree),
            _ => Err(refused(format!("it has more than {MAX_LEAVES} leaves"))),
        }
    }

    /// Returns the number of children of the nodes of each level, the root first.
    pub(crate) fn children(&self) -> &[u64] {
        &self.children
    }

    /// Returns the number of leaves.
    pub fn leaves(&self) -> u64 {
        self.children.iter().product()
    }

    /// Returns the number of nodes of each level, the root first.
    pub(crate) fn widths(&self) -> Vec<usize> {
        let mut widths = vec![1];
        for &children in &self.children {
            widths.push(widths[widths.len() - 1] * children as usize);
        }
        widths
    }
}

impl Default for Tree {
    /// Returns a tree of one root over 16 leaves, which balances leaf and root for some 10,000 rows
    /// (section 4.3). The number of rows itself has no say: it is another one after a deletion.
    fn default() -> Tree {
        Tree { children: vec![16] }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("1")?;
        self.children
            .iter()
            .try_for_each(|children| write!(f, "x{children}"))
    }
}

impl From<Tree> for String {
    fn from(tree: Tree) -> String {
        tree.to_string()
    }
}

impl TryFrom<String> for Tree {
    type Error = String;

    /// Parses a tree. The error is what else the text must be, as the message about a field goes
    /// on.
    fn try_from(text: String) -> Result<Tree, String> {
        text.parse().map_err(|error| match error {
            KMeansError::Tree { problem, .. } => format!("a tree such as 1x16: {problem}"),
            other => other.to_string(),
        })
    }
}

impl FromStr for Tree {
    type Err = KMeansError;

    fn from_str(text: &str) -> Result<Tree, KMeansError> {
        let refused = || KMeansError::Tree {
            tree: text.to_owned(),
            problem: "it is written as 1x16, or 1x4x4: children of each level, the root first"
                .to_owned(),
        };
        let mut levels = text.split('x').map(|level| level.parse::<u64>());
        if levels.next() != Some(Ok(1)) {
            return Err(refused());
        }
        let children = levels
            .collect::<Result<Vec<u64>, _>>()
            .map_err(|_| refused())?;
        if children.is_empty() {
            return Err(refused());
        }
        Tree::new(children)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_read_written_and_refused() {
        for (text, leaves) in [("1x16", 16), ("1x4x4", 16), ("1x1", 1)] {
            let tree: Tree = text.parse().unwrap();
            assert_eq!((tree.leaves(), tree.to_string().as_str()), (leaves, text));
        }
        for text in [
            "",
            "1",
            "2x4",
            "1x",
            "1x0",
            "1xa",
            "1x65537",
            "1x99999999999x99999999999",
        ] {
            assert!(text.parse::<Tree>().is_err(), "{text}");
        }
        assert_eq!(Tree::default().to_string(), "1x16");
    }
}
