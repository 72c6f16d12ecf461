//! The browser's door: the only file that names a JavaScript type.
//!
//! A [`Handle`] is an opened file. Small things cross as objects, big columns as typed arrays; long
//! work is done in steps, so that whoever owns the handle can answer others in between. The types in
//! the generated `.d.ts` are those of the Rust structs.

use js_sys::{Float64Array, Uint8Array, Uint32Array};
use serde::Serialize;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;
use web_sys::{Blob, FileReaderSync};

use crate::amdgpu::Directives;
use crate::container::ZipWriter;
use crate::document::{self, Document, ImageLocation, Location, Summary, address};
use crate::elf::map::{Leaf, Role};
use crate::error::{Diagnostic, Error};
use crate::export::{self, Form};
use crate::extract::{self, Extract, Step};
use crate::goto::{Suggest, Suggestion, Target};
use crate::kernels::KernelDetail;
use crate::launch::Launch;
use crate::nvidia::bank0::{BankPart, BankPlace};
use crate::nvidia::code::{CodeStatistics, Count};
use crate::occupancy::OccupancyAnswer;
use crate::record::Record;
use crate::report::Report;
use crate::rows::{Cell, Column, Progress, Query, Unit, View};
use crate::search::{Found, Pattern, Search};
use crate::source::{ReadAt, Source};
use crate::span::Span;
use crate::survey::SurveyProgress;

#[wasm_bindgen(typescript_custom_section)]
const INT: &str = "/** An integer; a decimal string above 2^53. */\nexport type Int = number | string;\n/** What a row has in a column. */\nexport type Cell = Int | boolean | null;";

#[wasm_bindgen(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// The version of this program.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}

/// A file of the browser's, read in slices. Only workers can read it so.
struct Slices {
    blob: Blob,
    reader: FileReaderSync,
}

impl ReadAt for Slices {
    fn size(&self) -> u64 {
        self.blob.size() as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), String> {
        let words = |error: JsValue| {
            let detail = match error.dyn_into::<js_sys::Error>() {
                Ok(error) => String::from(error.message()),
                Err(other) => format!("{other:?}"),
            };
            format!(
                "the file can no longer be read: changed, moved or locked since it was opened? Open it again ({detail})"
            )
        };
        let end = offset + into.len() as u64;
        let slice = self
            .blob
            .slice_with_f64_and_f64(offset as f64, end as f64)
            .map_err(words)?;
        let buffer = self.reader.read_as_array_buffer(&slice).map_err(words)?;
        let bytes = Uint8Array::new(&buffer);
        if bytes.length() as usize != into.len() {
            return Err("the file has changed since it was opened".into());
        }
        bytes.copy_to(into);
        Ok(())
    }
}

/// What a call refuses, as a JavaScript error whose message says what and where.
fn refuse(error: Error) -> JsValue {
    js_sys::Error::new(&error.diagnostic().to_string()).into()
}

/// `value` as a JavaScript object.
fn object<T: Tsify + Serialize>(value: &T) -> Result<Ts<T>, JsValue> {
    value.into_ts().map_err(|error| words(&error.to_string()))
}

/// `values` as a JavaScript array of objects.
fn objects<T: Tsify + Serialize>(values: &[T]) -> Result<Vec<Ts<T>>, JsValue> {
    values.iter().map(object).collect()
}

/// `value` as JSON, printed by the browser.
fn json(value: &impl Serialize) -> Result<String, JsValue> {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    let object = value.serialize(&serializer)?;
    Ok(js_sys::JSON::stringify(&object)?.into())
}

fn words(message: &str) -> JsValue {
    js_sys::Error::new(message).into()
}

/// Rows of a table.
#[derive(Serialize, Tsify)]
#[tsify(missing_as_null)]
pub struct Window {
    /// Rows that the query leaves.
    pub matched: u32,
    /// First row of the window.
    pub start: u32,
    /// Index in the table of each row.
    pub index: Vec<u32>,
    /// For each row, where the bytes that it is read from begin; -1 where there are none.
    pub offset: Vec<f64>,
    /// For each row, how many bytes these are.
    pub size: Vec<f64>,
    /// For each row, where the bytes begin that it is about; -1 where there are none in the file.
    pub target_offset: Vec<f64>,
    /// For each row, how many bytes these are.
    pub target_size: Vec<f64>,
    /// For each row its cells, in the order of the columns.
    #[tsify(type = "Cell[][]")]
    pub rows: Vec<Vec<Cell<'static>>>,
}

/// The columns of the map as typed arrays, a number a leaf.
#[wasm_bindgen(getter_with_clone)]
pub struct MapColumns {
    /// First bytes.
    pub offset: Float64Array,
    /// Sizes in bytes.
    pub size: Float64Array,
    /// Index in `roles` of what each leaf is.
    pub role: Uint8Array,
    /// 1 where several parts claim the leaf.
    pub shared: Uint8Array,
}

/// The patches of a part of the image as typed arrays, a number a patch, in the order in which they are written.
#[wasm_bindgen(getter_with_clone)]
pub struct PatchColumns {
    /// First bytes in the image.
    pub offset: Float64Array,
    /// Sizes in bytes.
    pub size: Float64Array,
    /// Rows of the table `patches/ADDRESS`.
    pub row: Uint32Array,
}

/// The images of a file.
#[derive(Serialize, Tsify)]
#[tsify(missing_as_null)]
pub struct ImageInfo {
    /// The address of its first byte in a linked file.
    #[serde(serialize_with = "crate::int::serialize")]
    #[tsify(type = "Int")]
    pub address: u64,
    /// Bytes to reserve.
    #[serde(serialize_with = "crate::int::serialize")]
    #[tsify(type = "Int")]
    pub size: u64,
    /// Alignment to reserve them at.
    #[serde(serialize_with = "crate::int::serialize")]
    #[tsify(type = "Int")]
    pub align: u64,
}

/// A member that is to be a file.
#[derive(Serialize, Tsify)]
#[tsify(missing_as_null)]
pub struct Extracted {
    /// The names from the outside in.
    pub path: String,
    /// What the file is to be called.
    pub name: String,
    /// Bytes.
    pub size: f64,
    /// Where they lie as they are in the file that was dropped; `null` where they do not.
    pub origin: Option<f64>,
    /// Why the member cannot be had, or what is wrong with how it is packed.
    pub problem: Option<String>,
    /// Whether it can be had.
    pub is_there: bool,
}

/// Members that are being written, and the one whose bytes are handed out.
struct Extraction {
    rest: Extract,
    zip: ZipWriter,
    /// What is next, once it is there.
    next: Option<Box<extract::Extracted>>,
    /// What it is called, the member, bytes handed out so far, and what they come to.
    current: Option<(String, Document, u64, u32)>,
}

/// Bytes handed out by one call, at most.
const BYTES_LIMIT: u64 = 16 << 20;
/// Rows handed out by one call, at most.
const ROWS_LIMIT: u32 = 10_000;
/// Orders of tables that are kept at a time.
const VIEWS_LIMIT: usize = 24;
/// Characters of a cell that are handed out, at most; names can be as long as the file.
const TEXT_LIMIT: usize = 4096;

/// The words for the numbers in [`MapColumns::role`].
#[wasm_bindgen]
pub fn roles() -> Vec<String> {
    Role::ALL.iter().map(|role| role.word().into()).collect()
}

/// A kernel of a member.
#[derive(Serialize, Tsify)]
#[tsify(missing_as_null)]
pub struct FoundKernel {
    /// The member's path.
    pub path: String,
    /// The kernel's row in the member's table of kernels; a PTX text has none.
    pub kernel: Option<u32>,
}

/// The order of a table's rows.
struct Prepared {
    table: String,
    view: View,
    /// How many steps of the survey the table has come from.
    surveyed: u64,
}

/// A member that is being opened. It keeps memory until it is freed, and needs the file that it lies in no longer.
#[wasm_bindgen]
pub struct Opening(document::Opening);

#[wasm_bindgen]
impl Opening {
    /// Goes on until about `budget` bytes more are read or unpacked; the member, once it is open.
    pub fn step(&mut self, budget: f64) -> Result<Option<Handle>, JsValue> {
        let opened = self.0.step(budget as u64).map_err(refuse)?;
        Ok(opened.map(Handle::open))
    }

    /// How many packed bytes are unpacked, and of how many as far as is known.
    pub fn progress(&self) -> Result<Ts<Progress>, JsValue> {
        object(&self.0.progress())
    }
}

/// An opened file. It keeps memory until it is freed.
#[wasm_bindgen]
pub struct Handle {
    document: Document,
    views: Vec<Prepared>,
    /// Counts steps of the survey, which change tables.
    surveyed: u64,
    search: Option<Search>,
    suggest: Option<Suggest>,
    count: Option<(u32, Count)>,
    extraction: Option<Extraction>,
}

#[wasm_bindgen]
impl Handle {
    /// Opens a file that is read in slices. In a worker only.
    #[wasm_bindgen(js_name = fromBlob)]
    pub fn from_blob(blob: Blob) -> Result<Handle, JsValue> {
        let reader = FileReaderSync::new()?;
        Ok(Self::open(Document::open(Source::sliced(Slices {
            blob,
            reader,
        }))))
    }

    /// Opens bytes that somebody has dumped, or text that has them, as the options say: `as=pushbuffer;class=C6C0`.
    /// In a worker only.
    pub fn decode(blob: Blob, options: &str) -> Result<Handle, JsValue> {
        let reader = FileReaderSync::new()?;
        let source = Source::sliced(Slices { blob, reader });
        Ok(Self::open(Document::decode(source, options)))
    }

    /// Opens a file that is copied to memory.
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(bytes: Vec<u8>) -> Handle {
        Self::open(Document::open(Source::memory(bytes)))
    }

    fn open(document: Document) -> Handle {
        Self {
            document,
            views: Vec::new(),
            surveyed: 0,
            search: None,
            suggest: None,
            count: None,
            extraction: None,
        }
    }

    /// What is to be said of it in one line, and what can be asked for next.
    pub fn summary(&self) -> Result<Ts<Summary>, JsValue> {
        object(&self.document.summary())
    }

    /// Bytes read from the file so far; 0 for one in memory.
    #[wasm_bindgen(getter)]
    pub fn fetched(&self) -> f64 {
        self.document.source().fetched() as f64
    }

    /// Goes on with the checks that read whole tables: about `budget` entries more.
    pub fn check(&mut self, budget: u32) -> Result<Ts<Progress>, JsValue> {
        object(&self.document.check(budget.into()))
    }

    /// Opens the member of that index in the table of members, as a file of its own.
    #[wasm_bindgen(js_name = openMember)]
    pub fn open_member(&self, index: u32) -> Result<Handle, JsValue> {
        Ok(Self::open(
            self.document.open_member(index).map_err(refuse)?,
        ))
    }

    /// Begins to open the member of that path, also of members whose own members are known only when they are unpacked.
    #[wasm_bindgen(js_name = beginPath)]
    pub fn begin_path(&self, path: &str) -> Result<Opening, JsValue> {
        Ok(Opening(self.document.begin_path(path).map_err(refuse)?))
    }

    /// What a file of the member of that path is to be called, of a file called `base` itself.
    #[wasm_bindgen(js_name = fileName)]
    pub fn file_name(&self, path: &str, base: &str, member: &Handle) -> String {
        self.document.file_name(path, base, &member.document)
    }

    /// Where its first byte lies in the file that was dropped; nothing where it was unpacked.
    #[wasm_bindgen(getter)]
    pub fn origin(&self) -> Option<f64> {
        self.document.source().in_file(0).map(|at| at as f64)
    }

    /// Begins to extract members of a file that is called `base`: those of these rows of the table of members, or all that hold no
    /// others. Returns how many bytes of them headers tell.
    pub fn extract(&mut self, base: &str, rows: Option<Vec<u32>>) -> f64 {
        let rest = match rows {
            Some(rows) => Extract::of(&self.document, base, rows),
            None => Extract::all(&self.document, base),
        };
        let (_, bytes) = rest.rest(&self.document);
        self.extraction = Some(Extraction {
            rest,
            zip: ZipWriter::default(),
            next: None,
            current: None,
        });
        bytes as f64
    }

    /// Goes on opening the next of them until about `budget` bytes more are read or unpacked. Whether that is done.
    #[wasm_bindgen(js_name = extractStep)]
    pub fn extract_step(&mut self, budget: f64) -> Result<bool, JsValue> {
        let extraction = self.extraction.as_mut().ok_or_else(no_extraction)?;
        // One is open at a time.
        extraction.current = None;
        let step = extraction.rest.step(&self.document, budget as u64);
        Ok(match step {
            Step::Working => false,
            Step::Next(next) => {
                extraction.next = next;
                true
            }
        })
    }

    /// The next of them, once that is open; nothing behind the last one.
    #[wasm_bindgen(js_name = extractNext)]
    pub fn extract_next(&mut self) -> Result<Option<Ts<Extracted>>, JsValue> {
        let extraction = self.extraction.as_mut().ok_or_else(no_extraction)?;
        let Some(next) = extraction.next.take() else {
            return Ok(None);
        };
        let extract::Extracted {
            path,
            name,
            opened,
            findings,
            ..
        } = *next;
        let mut problem = findings.first().map(|finding| finding.to_string());
        let (mut size, mut origin) = (0, None);
        let is_there = opened.is_ok();
        match opened {
            Ok(member) => {
                size = member.source().size();
                origin = member.source().in_file(0);
                extraction.current = Some((name.clone(), member, 0, 0));
            }
            Err(error) => problem = Some(error.diagnostic().to_string()),
        }
        let extracted = Extracted {
            path,
            name,
            size: size as f64,
            origin: origin.map(|at| at as f64),
            problem,
            is_there,
        };
        object(&extracted).map(Some)
    }

    /// The next bytes of the member that is open, none behind the last.
    #[wasm_bindgen(js_name = extractBytes)]
    pub fn extract_bytes(&mut self, size: f64) -> Result<Uint8Array, JsValue> {
        let extraction = self.extraction.as_mut().ok_or_else(no_extraction)?;
        let current = extraction.current.as_mut().ok_or_else(no_extraction)?;
        let (_, member, at, sum) = current;
        let size = (size as u64).min(BYTES_LIMIT);
        let bytes = member.source().read_up_to(*at, size).map_err(refuse)?;
        *at += bytes.len() as u64;
        *sum = crate::unpack::crc32(*sum, &bytes);
        Ok(Uint8Array::from(&bytes[..]))
    }

    /// What stands before those bytes in a zip file, once all of them were handed out.
    #[wasm_bindgen(js_name = extractHeader)]
    pub fn extract_header(&mut self) -> Result<Uint8Array, JsValue> {
        let extraction = self.extraction.as_mut().ok_or_else(no_extraction)?;
        let (name, _, size, sum) = extraction.current.take().ok_or_else(no_extraction)?;
        Ok(Uint8Array::from(&extraction.zip.add(&name, size, sum)[..]))
    }

    /// Ends it. Returns what stands at the end of the zip file.
    #[wasm_bindgen(js_name = extractEnd)]
    pub fn extract_end(&mut self) -> Uint8Array {
        let zip = self.extraction.take().map(|extraction| extraction.zip);
        Uint8Array::from(&zip.unwrap_or_default().finish()[..])
    }

    /// Goes on opening the members that are code, for their kernels and for which of them are the same: about `budget` bytes more.
    /// A budget of 0 only tells how far it has come.
    pub fn survey(&mut self, budget: f64) -> Result<Ts<SurveyProgress>, JsValue> {
        self.surveyed += u64::from(budget > 0.0);
        object(&self.document.survey(budget as u64))
    }

    /// Goes on looking through the file for GPU code that no header tells of: about `budget` bytes more. What is found are members
    /// behind those that are known.
    pub fn carve(&mut self, budget: f64) -> Result<Ts<Progress>, JsValue> {
        object(&self.document.carve(budget as u64))
    }

    /// Where the kernel is that a cell of the table `across` is about.
    #[wasm_bindgen(js_name = foundKernel)]
    pub fn found_kernel(&self, row: u32, column: &str) -> Result<Option<Ts<FoundKernel>>, JsValue> {
        let found = self.document.found_kernel(row.into(), column);
        let found = found.map(|(path, kernel)| FoundKernel { path, kernel });
        found.as_ref().map(object).transpose()
    }

    /// The row of the member of that path, or of the nearest one around it.
    #[wasm_bindgen(js_name = memberAt)]
    pub fn member_at(&self, path: &str) -> Option<u32> {
        self.document.contents().find(path).map(|(index, _)| index)
    }

    /// All of a cell's text, of which rows have the beginning.
    pub fn text(&self, table: &str, row: u32, column: &str) -> Result<String, JsValue> {
        let table = self.document.table(table).ok_or_else(|| no_table(table))?;
        let cell = table.cell(row.into(), column);
        Ok(cell.text(Unit::Text).into_owned())
    }

    /// The columns of a table.
    pub fn columns(&self, table: &str) -> Result<Vec<Ts<Column>>, JsValue> {
        let table = self.document.table(table).ok_or_else(|| no_table(table))?;
        objects(table.columns())
    }

    /// Begins to sort and filter a table: rows are then those of this query, once it is prepared.
    pub fn query(
        &mut self,
        table: &str,
        sort: Option<String>,
        descending: bool,
        filter: String,
    ) -> Result<(), JsValue> {
        self.document.table(table).ok_or_else(|| no_table(table))?;
        let query = Query {
            sort,
            descending,
            filter,
        };
        let surveyed = self.surveyed;
        self.views.retain(|known| {
            known.table != table || (*known.view.query() == query && known.surveyed == surveyed)
        });
        if !self.views.iter().any(|known| known.table == table) {
            // Tables of one kernel or one address are many: those longest asked for are prepared anew.
            let excess = (self.views.len() + 1).saturating_sub(VIEWS_LIMIT);
            self.views.drain(..excess);
            self.views.push(Prepared {
                table: table.into(),
                view: View::new(query),
                surveyed,
            });
        }
        Ok(())
    }

    /// Goes on preparing the query of a table: about `budget` rows more.
    pub fn prepare(&mut self, table: &str, budget: u32) -> Result<Ts<Progress>, JsValue> {
        let rows = self.document.table(table).ok_or_else(|| no_table(table))?;
        let known = self.views.iter_mut().find(|known| known.table == table);
        let known = known.ok_or_else(|| words("no query has begun for this table"))?;
        object(&known.view.step(&*rows, budget.into()))
    }

    /// `count` rows from `start` on, of the table's query or else of all its rows.
    pub fn rows(&self, table: &str, start: u32, count: u32) -> Result<Ts<Window>, JsValue> {
        let known = self.views.iter().find(|known| known.table == table);
        self.window(table, known.map(|known| &known.view), start, count)
    }

    /// `count` rows from `start` on, in the table's own order whatever its query is.
    pub fn list(&self, table: &str, start: u32, count: u32) -> Result<Ts<Window>, JsValue> {
        self.window(table, None, start, count)
    }

    fn window(
        &self,
        table: &str,
        view: Option<&View>,
        start: u32,
        count: u32,
    ) -> Result<Ts<Window>, JsValue> {
        let rows = self.document.table(table).ok_or_else(|| no_table(table))?;
        let all = View::new(Query::default());
        let view = view.unwrap_or(&all);
        let matched = view.len(&*rows) as u32;
        let end = start.saturating_add(count.min(ROWS_LIMIT)).min(matched);
        let mut window = Window {
            matched,
            start,
            index: Vec::new(),
            offset: Vec::new(),
            size: Vec::new(),
            target_offset: Vec::new(),
            target_size: Vec::new(),
            rows: Vec::new(),
        };
        for row in start..end {
            let Some(index) = view.row(&*rows, row.into()) else {
                break;
            };
            window.index.push(index as u32);
            let (offset, size) = numbers(rows.place(index));
            window.offset.push(offset);
            window.size.push(size);
            let (offset, size) = numbers(rows.target(index));
            window.target_offset.push(offset);
            window.target_size.push(size);
            let cells = rows
                .columns()
                .iter()
                .map(|c| short(rows.cell(index, &c.key)));
            window.rows.push(cells.collect());
        }
        object(&window)
    }

    /// Where row `index` of the table stands in its query.
    pub fn position(&self, table: &str, index: u32) -> Option<u32> {
        let rows = self.document.table(table)?;
        match self.views.iter().find(|known| known.table == table) {
            Some(known) => known
                .view
                .position(&*rows, index.into())
                .map(|at| at as u32),
            None => (u64::from(index) < rows.len()).then_some(index),
        }
    }

    /// The map: every byte of the file is in exactly one leaf.
    pub fn map(&self) -> MapColumns {
        self.columns_of(self.document.leaves())
    }

    fn columns_of(&self, leaves: &[Leaf]) -> MapColumns {
        let number =
            |of: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..leaves.len()).map(of).collect() };
        let role = |i: usize| {
            let role = self.document.role(&leaves[i]);
            Role::ALL.iter().position(|&r| r == role).unwrap_or(0) as u8
        };
        let roles: Vec<u8> = (0..leaves.len()).map(role).collect();
        let shared: Vec<u8> = leaves.iter().map(|leaf| leaf.is_shared.into()).collect();
        MapColumns {
            offset: Float64Array::from(&number(&|i| leaves[i].span.offset as f64)[..]),
            size: Float64Array::from(&number(&|i| leaves[i].span.size as f64)[..]),
            role: Uint8Array::from(&roles[..]),
            shared: Uint8Array::from(&shared[..]),
        }
    }

    /// Up to `size` bytes from `offset` on: fewer at the end of the file.
    pub fn bytes(&self, offset: f64, size: f64) -> Result<Uint8Array, JsValue> {
        let size = (size as u64).min(BYTES_LIMIT);
        let bytes = self.document.source().read_up_to(offset as u64, size);
        Ok(Uint8Array::from(&bytes.map_err(refuse)?[..]))
    }

    /// The image by the reference ABI's rule, or by the program headers.
    pub fn image(&self, by_segments: bool) -> Result<Option<Ts<ImageInfo>>, JsValue> {
        let image = self.document.image(by_segments);
        let info = image.map(|image| ImageInfo {
            address: image.address,
            size: image.size,
            align: image.align,
        });
        info.as_ref().map(object).transpose()
    }

    /// Up to `size` bytes of the image from `offset` on; as a loader leaves them at the address `base`, if that
    /// is given: hexadecimal digits.
    #[wasm_bindgen(js_name = imageBytes)]
    pub fn image_bytes(
        &self,
        by_segments: bool,
        offset: f64,
        size: f64,
        base: Option<String>,
    ) -> Result<Uint8Array, JsValue> {
        let image = self.document.image(by_segments);
        let image = image.ok_or_else(|| words("this file has no such image"))?;
        let offset = (offset as u64).min(image.size);
        let size = (size as u64).min(BYTES_LIMIT).min(image.size - offset);
        let mut bytes = vec![0; size as usize];
        let base = match base {
            Some(text) => Some(address(&text).ok_or_else(|| words("that is no address"))?),
            None => None,
        };
        self.document
            .read_image(by_segments, base, offset, &mut bytes)
            .map_err(refuse)?;
        Ok(Uint8Array::from(&bytes[..]))
    }

    /// Which bytes of the image from `offset` on a loader changes, whatever the address: up to 10,000 patches.
    pub fn patched(&self, offset: f64, size: f64) -> Option<PatchColumns> {
        let patches = self.document.patches()?;
        let found = patches.within(Span::new(offset as u64, size as u64));
        let found: Vec<u32> = found.into_iter().take(ROWS_LIMIT as usize).collect();
        let span = |&i: &u32| numbers(patches.all()[i as usize].span());
        let (offset, size): (Vec<f64>, Vec<f64>) = found.iter().map(span).unzip();
        Some(PatchColumns {
            offset: Float64Array::from(&offset[..]),
            size: Float64Array::from(&size[..]),
            row: Uint32Array::from(&found[..]),
        })
    }

    /// The parts of constant bank 0 of the kernel of that index in the table of kernels; none where there is no such bank.
    pub fn bank0(&self, kernel: u32) -> Result<Vec<Ts<BankPart>>, JsValue> {
        let bank = self.document.bank0(kernel as usize);
        objects(&bank.map(|bank| bank.parts).unwrap_or_default())
    }

    /// What is at `offset` of constant bank 0 of a kernel; nothing past the largest bank.
    #[wasm_bindgen(js_name = bank0At)]
    pub fn bank0_at(&self, kernel: u32, offset: u32) -> Result<Option<Ts<BankPlace>>, JsValue> {
        let bank = self.document.bank0(kernel as usize);
        let place = bank.and_then(|bank| bank.at(offset));
        place.as_ref().map(object).transpose()
    }

    /// The map of an image: its pieces and the zeros between them.
    #[wasm_bindgen(js_name = imageMap)]
    pub fn image_map(&self, by_segments: bool) -> Option<MapColumns> {
        let elf = self.document.elf()?;
        elf.image_of(by_segments)?;
        Some(self.columns_of(&elf.image_leaves(by_segments)))
    }

    /// What is known of the byte at `offset` of an image.
    #[wasm_bindgen(js_name = imageLocate)]
    pub fn image_locate(
        &self,
        by_segments: bool,
        offset: f64,
    ) -> Result<Ts<ImageLocation>, JsValue> {
        let location = self.document.locate_in_image(by_segments, offset as u64);
        object(&location.ok_or_else(|| words("that is past the end of the image"))?)
    }

    /// Where an expression leads: an offset, or a name with what is added to it.
    pub fn resolve(&self, expression: &str) -> Result<Ts<Target>, JsValue> {
        object(&self.document.resolve(expression).map_err(refuse)?)
    }

    /// Begins to look for up to `most` names that have all `words`.
    pub fn suggest(&mut self, words: &str, most: u32) {
        self.suggest = Some(Suggest::new(words, most as usize));
    }

    /// Goes on looking for names: about `budget` more.
    #[wasm_bindgen(js_name = suggestStep)]
    pub fn suggest_step(&mut self, budget: u32) -> Result<Ts<Progress>, JsValue> {
        let suggest = self.suggest.as_mut();
        let suggest = suggest.ok_or_else(|| words("no names are looked for"))?;
        object(&suggest.step(&self.document, budget.into()))
    }

    /// The names found so far, the best first.
    pub fn suggestions(&self) -> Result<Vec<Ts<Suggestion>>, JsValue> {
        let found = self.suggest.as_ref().map(Suggest::found);
        objects(&found.unwrap_or_default())
    }

    /// What is known of the byte at `offset`: the parts that claim it, and the structures that hold it.
    pub fn locate(&self, offset: f64) -> Result<Ts<Location>, JsValue> {
        object(&self.document.locate(offset as u64))
    }

    /// The records at `offset` in print, or only the one of that index: `form` is `text`, `json`,
    /// `markdown` or `c`.
    pub fn print(&self, offset: f64, form: &str, index: Option<u32>) -> Result<String, JsValue> {
        let mut records: Vec<Record> = self.document.locate(offset as u64).records;
        if let Some(index) = index {
            records = records.into_iter().skip(index as usize).take(1).collect();
        }
        print(&records, form)
    }

    /// All that is known of a kernel, by its index in the table of kernels.
    pub fn kernel(&self, index: u32) -> Result<Option<Ts<KernelDetail>>, JsValue> {
        let kernel = self.document.kernel(index as usize);
        kernel.as_ref().map(object).transpose()
    }

    /// The descriptor of a kernel of a code object as text for LLVM's assembler; nothing for other kernels.
    pub fn directives(&self, kernel: u32) -> Result<Option<Ts<Directives>>, JsValue> {
        let directives = self.document.directives(kernel as usize);
        let directives = directives.map_err(refuse)?;
        directives.as_ref().map(object).transpose()
    }

    /// What a dispatch passes to a kernel of a code object, by its index in the table of kernels; nothing for other kernels.
    pub fn kernarg(&self, kernel: u32) -> Result<Option<Ts<Record>>, JsValue> {
        let record = self.document.kernarg(kernel as usize);
        record.as_ref().map(object).transpose()
    }

    /// The same in print: `form` is `text`, `json`, `markdown` or `c`.
    #[wasm_bindgen(js_name = printKernarg)]
    pub fn print_kernarg(&self, kernel: u32, form: &str) -> Result<String, JsValue> {
        let records: Vec<Record> = self.document.kernarg(kernel as usize).into_iter().collect();
        print(&records, form)
    }

    /// What a launch of a kernel hands to the GPU, for what was typed.
    pub fn launch(&self, kernel: u32, inputs: &str) -> Result<Option<Ts<Launch>>, JsValue> {
        let launch = self.document.launch(kernel as usize, inputs);
        launch.as_ref().map(object).transpose()
    }

    /// The structure of that key that comes of a launch, in print: `form` is `text`, `json`, `markdown` or `c`.
    #[wasm_bindgen(js_name = printMade)]
    pub fn print_made(
        &self,
        kernel: u32,
        inputs: &str,
        key: &str,
        form: &str,
    ) -> Result<String, JsValue> {
        let launch = self.document.launch(kernel as usize, inputs);
        let made = launch.map(|launch| launch.made).unwrap_or_default();
        let of_key = made.into_iter().filter(|made| made.key == key);
        let records: Vec<Record> = of_key.map(|made| made.record).collect();
        print(&records, form)
    }

    /// How many blocks or workgroups of a launch a unit of the GPU holds at once, for what was typed.
    pub fn occupancy(
        &self,
        kernel: u32,
        inputs: &str,
    ) -> Result<Option<Ts<OccupancyAnswer>>, JsValue> {
        let answer = self.document.occupancy(kernel as usize, inputs);
        answer.as_ref().map(object).transpose()
    }

    /// Begins to count what the scheduling of a kernel comes to, by the kernel's index.
    pub fn count(&mut self, kernel: u32) {
        self.count = Some((kernel, Count::default()));
    }

    /// Goes on counting: about `budget` instructions more.
    #[wasm_bindgen(js_name = countStep)]
    pub fn count_step(&mut self, budget: u32) -> Result<Ts<Progress>, JsValue> {
        let (kernel, count) = self
            .count
            .as_mut()
            .ok_or_else(|| words("nothing is counted"))?;
        let code = self.document.code(*kernel as usize);
        let code = code.ok_or_else(|| words("how this kernel's code is encoded is not known"))?;
        object(&count.step(&code, budget.into()).map_err(refuse)?)
    }

    /// What is counted so far.
    pub fn counted(&self) -> Result<Option<Ts<CodeStatistics>>, JsValue> {
        let count = self.count.as_ref();
        count.map(|(_, count)| object(count.found())).transpose()
    }

    /// The findings so far, with offsets in this file, be it a member of another.
    pub fn diagnostics(&self) -> Result<Vec<Ts<Diagnostic>>, JsValue> {
        objects(&self.document.findings_within())
    }

    /// Begins to find `pattern` from `start` on, or backwards what begins before it: hexadecimal digits with
    /// `?` for any, or text.
    #[wasm_bindgen(js_name = search)]
    pub fn search(
        &mut self,
        pattern: &str,
        is_hex: bool,
        start: f64,
        is_backwards: bool,
    ) -> Result<(), JsValue> {
        let pattern = if is_hex {
            Pattern::hex(pattern)
        } else {
            Pattern::text(pattern)
        };
        let begin = if is_backwards {
            Search::backwards
        } else {
            Search::new
        };
        self.search = Some(begin(pattern.map_err(refuse)?, start as u64));
        Ok(())
    }

    /// Goes on with the search: about `budget` bytes more, or to the next match.
    #[wasm_bindgen(js_name = searchStep)]
    pub fn search_step(&mut self, budget: f64) -> Result<Ts<Found>, JsValue> {
        let search = self
            .search
            .as_mut()
            .ok_or_else(|| words("no search has begun"))?;
        object(
            &search
                .step(self.document.source(), budget as u64)
                .map_err(refuse)?,
        )
    }

    /// The report, as the terminal's `report --json` prints it. Runs all checks.
    pub fn report(&mut self) -> Result<String, JsValue> {
        self.document.check_all();
        json(&Report(&self.document))
    }
}

/// Records in the form of that name.
fn print(records: &[Record], form: &str) -> Result<String, JsValue> {
    if form == "json" {
        let printed: Result<Vec<String>, JsValue> = records.iter().map(json).collect();
        return Ok(printed?.join("\n"));
    }
    let form = Form::named(form).ok_or_else(|| words("no such form"))?;
    let printed: Vec<String> = records.iter().map(|r| export::print(r, form)).collect();
    Ok(printed.join("\n"))
}

/// A span in columns of numbers: -1 and 0 where there is none.
fn numbers(span: Option<Span>) -> (f64, f64) {
    span.map_or((-1.0, 0.0), |span| (span.offset as f64, span.size as f64))
}

fn no_extraction() -> JsValue {
    words("nothing is being extracted")
}

fn no_table(name: &str) -> JsValue {
    words(&format!("this file has no table called {name:?}"))
}

/// `cell` with its text shortened, so that one name cannot fill a page.
fn short(cell: Cell<'_>) -> Cell<'static> {
    match cell {
        Cell::None => Cell::None,
        Cell::Bool(value) => Cell::Bool(value),
        Cell::Int(value) => Cell::Int(value),
        Cell::Text(text) => {
            let end = text.char_indices().nth(TEXT_LIMIT).map(|(at, _)| at);
            Cell::Text(match end {
                Some(end) => format!("{}…", &text[..end]).into(),
                None => text.into_owned().into(),
            })
        }
    }
}
