//! Connected components of the dependence graph.

/// Groups of positions `0..count` that grow by joining.
#[derive(Debug, Clone)]
pub struct Components {
    parent: Vec<usize>,
    groups: usize,
}

impl Components {
    /// Creates groups of one position each.
    pub fn new(count: usize) -> Components {
        Components {
            parent: (0..count).collect(),
            groups: count,
        }
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Returns the smallest position of the group of `at`.
    pub fn root(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    /// Joins the groups of `a` and `b`.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parent[a.max(b)] = a.min(b);
            self.groups -= 1;
        }
    }

    /// Joins every pair of different groups that `dependent` says yes to; asks no more than needed.
    pub fn join_where(&mut self, mut dependent: impl FnMut(usize, usize) -> bool) {
        let count = self.parent.len();
        for a in 0..count {
            for b in a + 1..count {
                if self.groups == 1 {
                    return;
                }
                if self.root(a) != self.root(b) && dependent(a, b) {
                    self.join(a, b);
                }
            }
        }
    }

    /// Returns the groups of `items`, one item a position: ordered by their first member, members
    /// in order.
    pub fn split(&mut self, items: &[u32]) -> Vec<Vec<u32>> {
        let mut groups: Vec<Vec<u32>> = Vec::with_capacity(self.groups);
        let mut place = vec![usize::MAX; items.len()];
        for (at, &item) in items.iter().enumerate() {
            let root = self.root(at);
            if place[root] == usize::MAX {
                place[root] = groups.len();
                groups.push(Vec::new());
            }
            groups[place[root]].push(item);
        }
        groups
    }
}
