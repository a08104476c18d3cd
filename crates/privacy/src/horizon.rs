//! Public bounds of the smooth bound S ([`super::smooth`]): which t can matter, and what S is where
//! every window holds the same.

/// The range of t that can matter, from public parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Horizon {
    /// The smoothness β.
    pub beta: f64,
    /// The cap G.
    pub cap: u64,
    /// The last t that can matter.
    pub last: usize,
}

impl Horizon {
    /// Computes the horizon for β and G: e^{−βt} G exceeds max over t of e^{−βt} min(G, t + 1) for
    /// t ≤ `last` only.
    pub fn new(beta: f64, cap: u64) -> Horizon {
        let floor = growing_bound(beta, cap as f64, 0.0);
        let last = ((cap as f64 / floor).ln().max(0.0) / beta).ceil();
        Horizon {
            beta,
            cap,
            // A_t does not grow once t + 1 reaches the cap.
            last: last.min(cap as f64) as usize,
        }
    }

    /// Returns how often h′ is computed at most: once for each window.
    pub fn calls(&self) -> u64 {
        2 * (self.last as u64 + 1)
    }

    /// Returns the largest degree that must be known exactly.
    pub fn degree_cap(&self, k: usize) -> u32 {
        (k + self.last).min(u32::MAX as usize - 2) as u32
    }
}

/// Computes S for a database with h′ = `held` in every window: max over t of e^{−βt} min(G, held +
/// t + 1). For `held` = 0 this is the smallest value that S can have.
pub fn growing_bound(beta: f64, cap: f64, held: f64) -> f64 {
    // The function of real t has its maximum at 1/β − 1 − held, or where the cap begins.
    let peak = (1.0 / beta - 1.0 - held)
        .clamp(0.0, (cap - 1.0).max(0.0))
        .floor();
    [0.0, peak, peak + 1.0]
        .into_iter()
        .map(|t| (-beta * t).exp() * (held + t + 1.0).min(cap))
        .fold(0.0, f64::max)
}
