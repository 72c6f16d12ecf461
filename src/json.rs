//! JSON for the browser, which makes objects of it: its parser is fast, and this printer is small. It prints
//! what this crate hands out: no enumerations but of plain words, and maps whose keys are strings.

use std::fmt::{self, Write};

use serde::ser::{Impossible, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple};
use serde::{Serialize, Serializer};

/// `value` as JSON. `float` prints floating-point numbers, which is large code that browsers have.
///
/// # Errors
/// If `value` holds what is not printed.
pub fn print(value: &impl Serialize, float: fn(f64) -> String) -> Result<String, fmt::Error> {
    let mut printer = Printer {
        text: String::new(),
        float,
    };
    value.serialize(&mut printer)?;
    Ok(printer.text)
}

struct Printer {
    text: String,
    float: fn(f64) -> String,
}

impl Printer {
    fn string(&mut self, text: &str) -> fmt::Result {
        self.text.push('"');
        let mut rest = text;
        let is_special = |byte: u8| byte < b' ' || matches!(byte, b'"' | b'\\');
        while let Some(at) = rest.bytes().position(is_special) {
            self.text.push_str(&rest[..at]);
            match rest.as_bytes()[at] {
                b'\n' => self.text.push_str("\\n"),
                b'\r' => self.text.push_str("\\r"),
                b'\t' => self.text.push_str("\\t"),
                8 => self.text.push_str("\\b"),
                12 => self.text.push_str("\\f"),
                byte @ (b'"' | b'\\') => {
                    self.text.push('\\');
                    self.text.push(byte.into());
                }
                byte => write!(self.text, "\\u{byte:04x}")?,
            }
            rest = &rest[at + 1..];
        }
        self.text.push_str(rest);
        self.text.push('"');
        Ok(())
    }

    fn word(&mut self, word: &str) -> fmt::Result {
        self.text.push_str(word);
        Ok(())
    }

    fn list(&mut self) -> Result<Parts<'_>, fmt::Error> {
        self.text.push('[');
        Ok(Parts {
            printer: self,
            close: ']',
            is_first: true,
        })
    }

    fn object(&mut self) -> Result<Parts<'_>, fmt::Error> {
        self.text.push('{');
        Ok(Parts {
            printer: self,
            close: '}',
            is_first: true,
        })
    }
}

/// The elements of a list or the entries of an object.
struct Parts<'a> {
    printer: &'a mut Printer,
    close: char,
    is_first: bool,
}

impl Parts<'_> {
    /// The printer, set behind the comma if there is one.
    fn next(&mut self) -> &mut Printer {
        if !self.is_first {
            self.printer.text.push(',');
        }
        self.is_first = false;
        self.printer
    }

    /// The printer, set behind the key.
    fn entry(&mut self, key: &str) -> Result<&mut Printer, fmt::Error> {
        let printer = self.next();
        printer.string(key)?;
        printer.text.push(':');
        Ok(printer)
    }

    fn close(self) -> fmt::Result {
        self.printer.text.push(self.close);
        Ok(())
    }
}

/// Numbers that another number holds.
macro_rules! widen {
    ($($method:ident: $type:ty => $wide:ident,)*) => {
        $(fn $method(self, value: $type) -> fmt::Result {
            self.$wide(value.into())
        })*
    };
}

type No = Impossible<(), fmt::Error>;

impl<'a> Serializer for &'a mut Printer {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = No;

    widen! {
        serialize_i8: i8 => serialize_i64,
        serialize_i16: i16 => serialize_i64,
        serialize_i32: i32 => serialize_i64,
        serialize_u8: u8 => serialize_u64,
        serialize_u16: u16 => serialize_u64,
        serialize_u32: u32 => serialize_u64,
        serialize_f32: f32 => serialize_f64,
    }

    fn serialize_bool(self, value: bool) -> fmt::Result {
        self.word(if value { "true" } else { "false" })
    }

    fn serialize_i64(self, value: i64) -> fmt::Result {
        write!(self.text, "{value}")
    }

    fn serialize_u64(self, value: u64) -> fmt::Result {
        write!(self.text, "{value}")
    }

    fn serialize_f64(self, value: f64) -> fmt::Result {
        let word = (self.float)(value);
        self.word(&word)
    }

    fn serialize_char(self, value: char) -> fmt::Result {
        self.string(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> fmt::Result {
        self.string(value)
    }

    fn serialize_bytes(self, _: &[u8]) -> fmt::Result {
        Err(fmt::Error)
    }

    fn serialize_none(self) -> fmt::Result {
        self.word("null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_unit(self) -> fmt::Result {
        self.word("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> fmt::Result {
        self.word("null")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, word: &'static str) -> fmt::Result {
        self.string(word)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> fmt::Result {
        Err(fmt::Error)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>, fmt::Error> {
        self.list()
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>, fmt::Error> {
        self.list()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<No, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<No, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'a>, fmt::Error> {
        self.object()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, fmt::Error> {
        self.object()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<No, fmt::Error> {
        Err(fmt::Error)
    }
}

impl SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        value.serialize(self.next())
    }

    fn end(self) -> fmt::Result {
        self.close()
    }
}

impl SerializeTuple for Parts<'_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        value.serialize(self.next())
    }

    fn end(self) -> fmt::Result {
        self.close()
    }
}

impl SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> fmt::Result {
        key.serialize(self.next())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        self.printer.text.push(':');
        value.serialize(&mut *self.printer)
    }

    fn end(self) -> fmt::Result {
        self.close()
    }
}

impl SerializeStruct for Parts<'_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> fmt::Result {
        value.serialize(self.entry(key)?)
    }

    fn end(self) -> fmt::Result {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Report;
    use crate::{Document, Source};
    use serde_json::{Value, json};

    fn printed(value: &impl Serialize) -> String {
        print(value, |number| format!("{number:?}")).unwrap()
    }

    #[test]
    fn it_prints_what_serde_json_prints() {
        let value = json!({
            "": [], "a \"b\" \\": [null, true, false, {}, [1.5, -2.25e-10]],
            "\u{0}\u{8}\t\n\u{c}\r\u{1b}\u{7f}é€😀": [0, u64::MAX, i64::MIN],
        });
        assert_eq!(printed(&value), value.to_string());
        assert_eq!(printed(&"é\n"), r#""é\n""#);
    }

    #[test]
    fn a_report_reads_the_same() {
        let path = "src/json.rs";
        let mut documents = vec![Document::open(Source::memory(std::fs::read(path).unwrap()))];
        let program = std::env::current_exe().unwrap();
        let mut head = std::fs::read(program).unwrap();
        head.truncate(4096);
        documents.push(Document::open(Source::memory(head)));
        for document in &mut documents {
            document.check_all();
            let printed: Value = serde_json::from_str(&printed(&Report(document))).unwrap();
            assert_eq!(printed, serde_json::to_value(Report(document)).unwrap());
        }
    }
}
