//! The vector instructions of this processor.

use pulp::{Simd, WithSimd};

/// The number of lanes of the widest vectors.
pub(crate) const WIDEST: usize = 16;

/// Runs `work` with vectors of at most `lanes` lanes of 32 bits. The vectors change how fast it is,
/// and how a sum of f32 is rounded, but no result: what is decided from such sums has a bound on
/// their error.
pub(crate) fn vectorized<W: WithSimd>(work: W, lanes: usize) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if lanes >= 16
            && let Some(simd) = pulp::x86::V4::try_new()
        {
            return Simd::vectorize(simd, work);
        }
        if lanes >= 8
            && let Some(simd) = pulp::x86::V3::try_new()
        {
            return Simd::vectorize(simd, work);
        }
    }
    pulp::Arch::new().dispatch(work)
}

/// Returns whether 16 lanes cost what 8 cost.
pub(crate) fn has_wide_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        pulp::x86::V4::is_available()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}
