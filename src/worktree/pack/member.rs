//! One gzip member.

use libdeflater::{CompressionLvl, Compressor};

/// Archive bytes in a gzip member: more compresses no better, less costs memory for nothing.
pub(super) const MEMBER: usize = 512 * 1024;
/// The least effort; the link to a box is seldom slower than this compresses.
const LEVEL: i32 = 1;

/// A compressor of that effort.
pub(super) fn compressor() -> Compressor {
    Compressor::new(CompressionLvl::new(LEVEL).expect("a level that exists"))
}

/// One gzip member. Without a time stamp, so that it depends on its contents alone.
pub(super) fn gzip(compressor: &mut Compressor, bytes: &[u8]) -> Vec<u8> {
    let mut member = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let length = compressor.gzip_compress(bytes, &mut member).expect("the bound is enough");
    member.truncate(length);
    member.shrink_to_fit();
    member
}
