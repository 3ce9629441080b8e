//! Creates small texts that expand to large ones by hand, because no dependency compresses.

/// Creates a gzip stream of one repeated ASCII letter: one deflate block with fixed codes, in which everything except
/// the first byte is a repetition.
pub(crate) fn gzipped(letter: u8, length: usize) -> Vec<u8> {
    let mut start = Bits::default();
    start.push(0b1, 1);
    start.push(0b01, 2);
    start.code(0x30 + u16::from(letter), 8);
    // A repetition has 13 bits, after eleven bits of header: the first one ends at a byte, and so does every eighth
    // one.
    let mut repetition = Bits::default();
    repetition.code(0b1100_0101, 8);
    repetition.code(0, 5);
    start.0.extend(&repetition.0);
    let eight = Bits(repetition.0.repeat(8)).bytes();
    let mut end = Bits::default();
    let left = length - 1 - 258;
    for _ in 0..left / 258 % 8 {
        end.0.extend(&repetition.0);
    }
    for _ in 0..left % 258 {
        end.code(0x30 + u16::from(letter), 8);
    }
    end.code(0, 7);
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    out.extend(start.bytes());
    out.extend(eight.repeat(left / 258 / 8));
    out.extend(end.bytes());
    // The checksums come after the data, and no reader gets that far.
    out.extend([0; 8]);
    out
}

#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn push(&mut self, value: u16, count: u32) {
        self.0.extend((0..count).map(|at| value >> at & 1 == 1));
    }

    /// Writes a code, the highest bit first.
    fn code(&mut self, value: u16, count: u32) {
        self.0.extend((0..count).rev().map(|at| value >> at & 1 == 1));
    }

    fn bytes(self) -> Vec<u8> {
        let byte = |bits: &[bool]| bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at);
        self.0.chunks(8).map(byte).collect()
    }
}
