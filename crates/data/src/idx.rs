//! IDX files (MNIST's format), plain, gzip or xz: images and labels, and how images are reduced.
//!
//! A file begins with two zero bytes, the type of its values, the number of its dimensions, and the
//! dimensions as big-endian 32-bit numbers. Only unsigned bytes are read, which is what images and
//! labels are in. What a header promises is never allocated in advance: memory grows with the bytes
//! that are really there, up to 2 GiB.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::read::ReadError;
use super::source::{Content, DataFile, Hashed};

/// The largest number of values that is read.
const MAX_VALUES: u64 = 1 << 31;

/// The reason why a file is no use as images or labels.
#[derive(Debug, Error)]
pub enum IdxError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// The file is of some other kind.
    #[error("{} is no IDX file: it does not begin with 0 0 8 and the number of dimensions", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// The values are not bytes.
    #[error("{} is an IDX file of values of type 0x{kind:02x}; only unsigned bytes (0x08) are read", file.display())]
    Type {
        /// The file.
        file: PathBuf,
        /// The type of the values, as the file says it.
        kind: u8,
    },
    /// The file has other dimensions than expected.
    #[error("{} has the dimensions {found:?}; expected {expected}", file.display())]
    Dimensions {
        /// The file.
        file: PathBuf,
        /// The dimensions of the file.
        found: Vec<u32>,
        /// The expected content.
        expected: &'static str,
    },
    /// The file holds too many values.
    #[error("{} promises the dimensions {found:?}, more than the 2,147,483,648 values that are read", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// The dimensions of the file.
        found: Vec<u32>,
    },
    /// The file ends too early.
    #[error("{} is truncated: its header promises {expected} values, {found} are there", file.display())]
    Truncated {
        /// The file.
        file: PathBuf,
        /// The number of values promised.
        expected: u64,
        /// The number of values found.
        found: u64,
    },
    /// The file goes on after its values.
    #[error("{} goes on after the {expected} values that its header promises", file.display())]
    Trailing {
        /// The file.
        file: PathBuf,
        /// The number of values promised.
        expected: u64,
    },
    /// The images and labels do not belong together.
    #[error("{} holds {labels} labels, but {} holds {images} images", file.display(), of.display())]
    Count {
        /// The file of labels.
        file: PathBuf,
        /// The file of images.
        of: PathBuf,
        /// The number of labels.
        labels: u32,
        /// The number of images.
        images: u32,
    },
    /// The reduction does not fit the images.
    #[error(
        "{} holds images of {height} x {width} pixels, which have no room for {crop} x {crop} blocks of {block} x {block}",
        file.display()
    )]
    Reduction {
        /// The file of images.
        file: PathBuf,
        /// The number of pixels from top to bottom.
        height: u32,
        /// The number of pixels from left to right.
        width: u32,
        /// The number of pixels a side of a block.
        block: u32,
        /// The number of blocks a side.
        crop: u32,
    },
}

/// A reduction of images to averages of square blocks of pixels: of the central `crop` x `crop`
/// blocks, or of all that fit.
///
/// The blocks lie around the centre of the image; a pixel that is left over goes to the bottom and
/// right. 28 x 28 pixels with `block` 4 and `crop` 6 become the 36 averages of the central 24 x 24
/// pixels. With a `block` of 2, 4 or 8 the averages, and the distances between them, are exact in
/// f64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduction {
    /// The number of pixels a side of a block.
    pub block: u32,
    /// The number of blocks a side; all that fit where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crop: Option<u32>,
}

/// An IDX file of unsigned bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idx {
    /// The dimensions, the number of items first.
    pub dimensions: Vec<u32>,
    /// The values, last dimension fastest.
    pub values: Vec<u8>,
}

/// The content of a file, after a look at its beginning.
pub(super) enum IdxContent {
    Idx(Idx),
    /// Content that is not IDX, from its beginning.
    Other(Content),
}

/// Reads `file`, which must be IDX: plain, gzip or xz.
///
/// # Errors
/// A file that cannot be read, is truncated, goes on too long, or holds something else than bytes.
pub fn read_idx(file: &Path) -> Result<Hashed<Idx>, IdxError> {
    let opened = DataFile::open(file)?;
    let content = match opened.content()? {
        Content::Stream(stream) => Idx::read_if(file, stream)?,
        parquet => IdxContent::Other(parquet),
    };
    match content {
        IdxContent::Idx(idx) => Ok(opened.hashed(idx)?),
        IdxContent::Other(_) => Err(IdxError::Foreign {
            file: file.to_owned(),
        }),
    }
}

impl Idx {
    /// Reads the decompressed `input` of `file` if it begins like IDX.
    pub(super) fn read_if(
        file: &Path,
        mut input: Box<dyn Read + Send>,
    ) -> Result<IdxContent, IdxError> {
        let failed = |source| ReadError::Io {
            file: file.to_owned(),
            source,
        };
        let mut magic = Vec::with_capacity(4);
        let mut start = input.by_ref().take(4);
        start.read_to_end(&mut magic).map_err(failed)?;
        if magic.len() < 4 || magic[..2] != [0, 0] {
            let whole = Cursor::new(magic).chain(input);
            return Ok(IdxContent::Other(Content::Stream(Box::new(whole))));
        }
        if magic[2] != 8 {
            return Err(IdxError::Type {
                file: file.to_owned(),
                kind: magic[2],
            });
        }
        let mut dimensions = Vec::new();
        for _ in 0..magic[3] {
            let mut bytes = [0; 4];
            input
                .read_exact(&mut bytes)
                .map_err(|_| IdxError::Foreign {
                    file: file.to_owned(),
                })?;
            dimensions.push(u32::from_be_bytes(bytes));
        }
        let expected = dimensions
            .iter()
            .try_fold(1_u64, |product, &size| product.checked_mul(u64::from(size)))
            .filter(|&values| values <= MAX_VALUES)
            .ok_or_else(|| IdxError::TooLarge {
                file: file.to_owned(),
                found: dimensions.clone(),
            })?;
        let mut values = Vec::new();
        let ended = input.take(expected + 1).read_to_end(&mut values);
        let found = values.len() as u64;
        match ended {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(failed(error).into()),
            _ if found < expected => Err(IdxError::Truncated {
                file: file.to_owned(),
                expected,
                found,
            }),
            _ if found > expected => Err(IdxError::Trailing {
                file: file.to_owned(),
                expected,
            }),
            Err(error) => Err(failed(error).into()),
            Ok(_) => Ok(IdxContent::Idx(Idx { dimensions, values })),
        }
    }

    /// Converts the images in `file` to rows of features.
    pub(super) fn into_images(
        self,
        file: &Path,
        reduction: Option<Reduction>,
    ) -> Result<Images, IdxError> {
        let &[count, height, width] = self.dimensions.as_slice() else {
            return Err(IdxError::Dimensions {
                file: file.to_owned(),
                found: self.dimensions,
                expected: "images, rows and columns",
            });
        };
        let block = reduction.map_or(1, |reduction| reduction.block);
        let (down, across) = match reduction.and_then(|reduction| reduction.crop) {
            Some(crop) => (crop, crop),
            None => (
                height.checked_div(block).unwrap_or(0),
                width.checked_div(block).unwrap_or(0),
            ),
        };
        let fits = |blocks: u32, pixels: u32| {
            let needed = u64::from(blocks) * u64::from(block);
            needed > 0 && needed <= u64::from(pixels)
        };
        if !(fits(down, height) && fits(across, width)) {
            return Err(IdxError::Reduction {
                file: file.to_owned(),
                height,
                width,
                block,
                crop: down.max(across),
            });
        }
        // No image pays for the pixels that a header says images have.
        if count == 0 {
            return Ok(Images {
                count,
                columns: Vec::new(),
                features: Vec::new(),
            });
        }
        let window = Window {
            top: ((height - down * block) / 2) as usize,
            left: ((width - across * block) / 2) as usize,
            down: down as usize,
            across: across as usize,
            block: block as usize,
        };
        let (height, width) = (height as usize, width as usize);
        let mut features = Vec::with_capacity(count as usize * window.down * window.across);
        for image in self.values.chunks_exact((height * width).max(1)) {
            window.averages(image, width, &mut features);
        }
        let names = (0..window.down)
            .flat_map(|row| (0..window.across).map(move |column| format!("block_{row}_{column}")));
        Ok(Images {
            count,
            columns: names.collect(),
            features,
        })
    }
}

/// Images as rows of features.
#[derive(Debug)]
pub(super) struct Images {
    pub count: u32,
    /// The names of the features.
    pub columns: Vec<String>,
    /// The features, row-major, an image a row.
    pub features: Vec<f64>,
}

/// The blocks that are averaged.
struct Window {
    top: usize,
    left: usize,
    down: usize,
    across: usize,
    block: usize,
}

impl Window {
    fn averages(&self, image: &[u8], width: usize, features: &mut Vec<f64>) {
        let pixels = (self.block * self.block) as f64;
        for row in 0..self.down {
            for column in 0..self.across {
                let left = self.left + column * self.block;
                let sum: u64 = (0..self.block)
                    .map(|line| {
                        let start = (self.top + row * self.block + line) * width + left;
                        let pixels = image[start..start + self.block].iter();
                        pixels.map(|&pixel| u64::from(pixel)).sum::<u64>()
                    })
                    .sum();
                features.push(sum as f64 / pixels);
            }
        }
    }
}

/// Reads the labels in `file`, which must be as many as the `count` images.
pub(super) fn labels_of(
    images: &Path,
    file: &Path,
    count: u32,
) -> Result<Hashed<Vec<String>>, IdxError> {
    let Hashed { value, sha256 } = read_idx(file)?;
    let &[found] = value.dimensions.as_slice() else {
        return Err(IdxError::Dimensions {
            file: file.to_owned(),
            found: value.dimensions,
            expected: "labels alone",
        });
    };
    if found != count {
        return Err(IdxError::Count {
            file: file.to_owned(),
            of: images.to_owned(),
            labels: found,
            images: count,
        });
    }
    Ok(Hashed {
        value: value.values.iter().map(u8::to_string).collect(),
        sha256,
    })
}

#[cfg(test)]
mod tests;
