//! git's binary patch: the deflated contents, in lines of base 85.

use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use libdeflater::Adler32;
use std::io::{self, Read, Write};

/// git's alphabet, which is not Ascii85's.
const ALPHABET: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// Bytes of a full line.
const LINE: usize = 52;
/// Of larger contents so much is tried first: media and archives do not get smaller, and trying takes long.
const SAMPLE: u64 = 1024 * 1024;
/// The largest block that deflate can store as it is.
const BLOCK: u16 = u16::MAX;

/// Writes one `literal` block with its closing empty line.
pub(super) fn literal(out: &mut impl Write, contents: &mut impl Read, size: u64) -> io::Result<()> {
    writeln!(out, "literal {size}")?;
    let mut lines = Lines { out, pending: Vec::with_capacity(LINE) };
    let mut sample = Vec::new();
    contents.by_ref().take(SAMPLE).read_to_end(&mut sample)?;
    let as_it_is = size > SAMPLE && !shrinks(&sample)?;
    let mut contents = sample.as_slice().chain(contents);
    if as_it_is {
        store(&mut lines, &mut contents)?;
        return lines.end();
    }
    let mut deflate = ZlibEncoder::new(lines, Compression::fast());
    io::copy(&mut contents, &mut deflate)?;
    deflate.finish()?.end()
}

fn shrinks(sample: &[u8]) -> io::Result<bool> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::fast());
    deflate.write_all(sample)?;
    Ok(deflate.finish()?.len() < sample.len() / 20 * 19)
}

/// A zlib stream of stored blocks (RFC 1950 and 1951), which no encoder has to think about.
fn store(out: &mut impl Write, contents: &mut impl Read) -> io::Result<()> {
    out.write_all(&[0x78, 0x01])?;
    let mut sum = Adler32::new();
    let mut block = Vec::with_capacity(BLOCK.into());
    loop {
        block.clear();
        contents.by_ref().take(BLOCK.into()).read_to_end(&mut block)?;
        let length = u16::try_from(block.len()).unwrap_or(BLOCK);
        out.write_all(&[u8::from(length == 0)])?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&(!length).to_le_bytes())?;
        if length == 0 {
            return out.write_all(&sum.sum().to_be_bytes());
        }
        out.write_all(&block)?;
        sum.update(&block);
    }
}

/// Takes bytes, writes full lines.
struct Lines<'a, W: Write> {
    out: &'a mut W,
    pending: Vec<u8>,
}

impl<W: Write> Lines<'_, W> {
    fn line(&mut self, bytes: &[u8]) -> io::Result<()> {
        let count = bytes.len();
        let mut line = [0; 1 + LINE / 4 * 5 + 1];
        line[0] = if count <= 26 { b'A' + count as u8 - 1 } else { b'a' + count as u8 - 27 };
        let mut end = 1;
        for four in bytes.chunks(4) {
            let mut padded = [0; 4];
            padded[..four.len()].copy_from_slice(four);
            let mut value = u32::from_be_bytes(padded);
            let mut digit = 5;
            while digit > 0 {
                digit -= 1;
                line[end + digit] = ALPHABET[(value % 85) as usize];
                value /= 85;
            }
            end += 5;
        }
        line[end] = b'\n';
        self.out.write_all(&line[..=end])
    }

    fn end(mut self) -> io::Result<()> {
        if !self.pending.is_empty() {
            let last = std::mem::take(&mut self.pending);
            self.line(&last)?;
        }
        self.out.write_all(b"\n")
    }
}

impl<W: Write> Write for Lines<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        if !self.pending.is_empty() {
            let (more, after) = rest.split_at(rest.len().min(LINE - self.pending.len()));
            self.pending.extend_from_slice(more);
            rest = after;
            if self.pending.len() == LINE {
                let full = std::mem::take(&mut self.pending);
                self.line(&full)?;
            }
        }
        let whole = rest.len() / LINE * LINE;
        for line in rest[..whole].chunks(LINE) {
            self.line(line)?;
        }
        self.pending.extend_from_slice(&rest[whole..]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
