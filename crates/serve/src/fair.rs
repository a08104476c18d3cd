//! Fair turns where many wait for a few places: for jobs, and for files to be looked at.
//!
//! Turns go round the projects, and within a project round its users. The next turn goes to the
//! project of which the fewest things run; among equals, to the one whose last turn is the longest
//! ago. Within the project its user is chosen likewise, and among equals the one who asked first.
//! So whoever asks for many things waits for them, but does not make somebody else wait before
//! their first one.

use std::collections::HashMap;

use super::identifier::Id;

/// A party that waits for turns: a user in a project.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Party {
    /// The project.
    pub project: Id,
    /// The token of the user in the project.
    pub user: Id,
}

/// The turns of a project or a user: how many things of it run, and the number of its last turn, 0
/// for never.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Had {
    running: usize,
    last: u64,
}

/// A record of what runs of each project and user, and of when each had its last turn.
#[derive(Debug, Clone, Default)]
pub struct Fairness {
    projects: HashMap<Id, Had>,
    users: HashMap<Party, Had>,
    last: u64,
}

impl Fairness {
    /// Records that the last turn of `party` was the one with the number `turn`.
    pub fn had(&mut self, party: &Party, turn: u64) {
        let project = self.projects.entry(party.project.clone()).or_default();
        project.last = project.last.max(turn);
        let user = self.users.entry(party.clone()).or_default();
        user.last = user.last.max(turn);
        self.last = self.last.max(turn);
    }

    /// Records that something of `party` runs.
    pub fn runs(&mut self, party: &Party) {
        let project = self.projects.entry(party.project.clone()).or_default();
        project.running += 1;
        self.users.entry(party.clone()).or_default().running += 1;
    }

    /// Gives `party` a turn, and returns the number of the turn.
    pub fn begin(&mut self, party: &Party) -> u64 {
        let turn = self.last + 1;
        self.had(party, turn);
        self.runs(party);
        turn
    }

    /// Records that a turn of `party` is over.
    pub fn end(&mut self, party: &Party) {
        if let Some(project) = self.projects.get_mut(&party.project) {
            project.running = project.running.saturating_sub(1);
        }
        if let Some(user) = self.users.get_mut(party) {
            user.running = user.running.saturating_sub(1);
        }
    }

    /// Forgets the parties that neither run nor are among the `waiting`: they count as newcomers.
    pub fn forget_others<'a>(&mut self, waiting: impl Iterator<Item = &'a Party>) {
        let waiting: Vec<&Party> = waiting.collect();
        let waits = |project: &Id| waiting.iter().any(|party| party.project == *project);
        self.projects
            .retain(|project, had| had.running > 0 || waits(project));
        self.users
            .retain(|party, had| had.running > 0 || waiting.contains(&party));
    }

    /// The number of things of the project `project` that run.
    pub fn running_of_project(&self, project: &Id) -> usize {
        self.projects.get(project).map_or(0, |had| had.running)
    }

    /// The number of things of `party` that run.
    pub fn running_of(&self, party: &Party) -> usize {
        self.users.get(party).map_or(0, |had| had.running)
    }

    /// The index of the party whose turn it is, among those of the `waiting` that `may` have one.
    /// The `waiting` come in the order in which they asked.
    pub fn next<'a>(
        &self,
        waiting: impl Iterator<Item = &'a Party>,
        may: impl Fn(&Party) -> bool,
    ) -> Option<usize> {
        let had = |party: &Party| {
            let project = self.projects.get(&party.project).copied();
            let user = self.users.get(party).copied();
            (project.unwrap_or_default(), user.unwrap_or_default())
        };
        let allowed = waiting.enumerate().filter(|(_, party)| may(party));
        allowed
            .min_by_key(|&(place, party)| (had(party), place))
            .map(|(place, _)| place)
    }

    /// The indices of the `waiting` in the order of their turns.
    pub fn order(mut self, waiting: &[Party]) -> Vec<usize> {
        let mut left: Vec<usize> = (0..waiting.len()).collect();
        let mut order = Vec::with_capacity(left.len());
        while let Some(next) = self.next(left.iter().map(|&place| &waiting[place]), |_| true) {
            let place = left.remove(next);
            self.begin(&waiting[place]);
            order.push(place);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(project: u8, user: u8) -> Party {
        Party {
            project: format!("{project:016x}").parse().unwrap(),
            user: format!("{user:016x}").parse().unwrap(),
        }
    }

    #[test]
    fn turns_go_round_projects_and_then_users() {
        let [a, b, c] = [party(1, 1), party(1, 2), party(2, 3)];
        // Ada asked for three, then Bob of her project for two, then somebody of another for two.
        let waiting = [&a, &a, &a, &b, &b, &c, &c].map(Party::clone);
        let order = Fairness::default().order(&waiting);
        assert_eq!(order, [0, 5, 3, 6, 1, 4, 2]);
    }

    #[test]
    fn with_one_place_the_one_goes_that_had_a_turn_the_longest_ago() {
        let [a, b] = [party(1, 1), party(2, 2)];
        let mut fairness = Fairness::default();
        fairness.begin(&a);
        fairness.end(&a);
        let waiting = [a.clone(), b.clone()];
        assert_eq!(fairness.next(waiting.iter(), |_| true), Some(1));
        fairness.begin(&b);
        fairness.end(&b);
        assert_eq!(fairness.next(waiting.iter(), |_| true), Some(0));
        assert_eq!(fairness.next(waiting.iter(), |party| *party == b), Some(1));
        assert_eq!(fairness.next(waiting.iter(), |_| false), None);
        fairness.forget_others([].iter());
        assert!(fairness.users.is_empty() && fairness.projects.is_empty());
    }

    /// However many things one project asks for, it has at most one turn between two turns of any
    /// other project that waits.
    #[test]
    fn nobody_waits_for_two_of_one_project() {
        let many: Vec<Party> = (0..40).map(|number| party(1, number % 7)).collect();
        let few = [party(2, 100), party(3, 101), party(2, 100)];
        let waiting = [many, few.to_vec()].concat();
        let order = Fairness::default().order(&waiting);
        let projects: Vec<&Id> = order.iter().map(|&place| &waiting[place].project).collect();
        let last_few = projects
            .iter()
            .rposition(|project| **project != waiting[0].project)
            .unwrap();
        let is_many = |pair: &[&Id]| pair.iter().all(|project| **project == waiting[0].project);
        assert!(!projects[..=last_few].windows(2).any(is_many));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..waiting.len()));
    }
}
