//! CRC-32C, which guards a message against a network that garbles it.

/// The polynomial of Castagnoli, its bits in reverse order.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// What each byte does to the sum.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut sum, mut bit) = (byte as u32, 0);
        while bit < 8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
};

/// The checksum of `bytes`.
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| sum >> 8 ^ TABLE[(sum as u8 ^ byte) as usize];
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value that catalogues of checksums give, and two examples of RFC 3720.
    #[test]
    fn it_is_the_sum_of_the_catalogues() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }
}
