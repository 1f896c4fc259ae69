//! git's binary patch: the deflated contents, in lines of base 85.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::{self, Read, Write};

/// git's alphabet, which is not Ascii85's.
const ALPHABET: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// Bytes of a full line.
const LINE: usize = 52;

/// Writes one `literal` block with its closing empty line.
pub(super) fn literal(out: &mut impl Write, contents: &mut impl Read, size: u64) -> io::Result<()> {
    writeln!(out, "literal {size}")?;
    let lines = Lines { out, pending: Vec::with_capacity(LINE) };
    let mut deflate = ZlibEncoder::new(lines, Compression::fast());
    io::copy(contents, &mut deflate)?;
    deflate.finish()?.end()
}

/// Takes bytes, writes full lines.
struct Lines<'a, W: Write> {
    out: &'a mut W,
    pending: Vec<u8>,
}

impl<W: Write> Lines<'_, W> {
    fn line(&mut self) -> io::Result<()> {
        let count = self.pending.len();
        let length = if count <= 26 { b'A' + count as u8 - 1 } else { b'a' + count as u8 - 27 };
        let mut line = vec![length];
        for four in self.pending.chunks(4) {
            let mut padded = [0; 4];
            padded[..four.len()].copy_from_slice(four);
            let mut value = u32::from_be_bytes(padded);
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = ALPHABET[(value % 85) as usize];
                value /= 85;
            }
            line.extend(digits);
        }
        line.push(b'\n');
        self.pending.clear();
        self.out.write_all(&line)
    }

    fn end(mut self) -> io::Result<()> {
        if !self.pending.is_empty() {
            self.line()?;
        }
        self.out.write_all(b"\n")
    }
}

impl<W: Write> Write for Lines<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.pending.push(*byte);
            if self.pending.len() == LINE {
                self.line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
