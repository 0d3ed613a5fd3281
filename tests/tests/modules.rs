//! Checks that no crate has a cycle of modules. The dependencies between sibling modules, each with
//! all its submodules, must form an acyclic graph. A dependency can also lead through modules
//! elsewhere in the crate. A module and its submodules count as one, so that a table may name the
//! files of its rows, and these files may name the type of a row.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use swapmeet_tests::project;

type Name = Vec<String>;
type Dependencies = BTreeMap<String, BTreeSet<String>>;

#[derive(Default)]
struct Modules(BTreeMap<Name, Vec<Name>>);

impl Modules {
    /// Reads the file of a module and, from `folder`, the files of the modules that it declares.
    fn read(&mut self, file: &Path, folder: &Path, name: &Name) {
        self.add(name.clone(), &std::fs::read_to_string(file).unwrap());
        let declared = self.0[name]
            .windows(2)
            .filter(|pair| pair[0] == ["mod"])
            .flat_map(|pair| pair[1].clone());
        for child in declared.collect::<Vec<_>>() {
            let below = folder.join(&child);
            for file in [below.with_extension("rs"), below.join("mod.rs")]
                .iter()
                .filter(|file| file.is_file())
            {
                self.read(file, &below, &[&name[..], std::slice::from_ref(&child)].concat());
            }
        }
    }

    fn add(&mut self, name: Name, source: &str) {
        let tokens: TokenStream = source.parse().unwrap();
        paths(tokens, &[], self.0.entry(name).or_default());
    }

    /// Returns the module of this crate to which a path leads. Re-exports are followed.
    fn module(&self, within: &Name, path: &Name, most: usize) -> Option<Name> {
        let up = path.iter().take_while(|word| *word == "super").count();
        let is_below = |name: &Name| self.0.contains_key(&[&name[..], &path[..1]].concat());
        let (mut at, first) = match path[0].as_str() {
            "crate" => (Name::new(), 1),
            "self" => (within.clone(), 1),
            _ if up > 0 => (within[..within.len() - up].to_vec(), up),
            _ if is_below(within) => (within.clone(), 0),
            _ => return None,
        };
        for word in &path[first..] {
            let below = [&at[..], std::slice::from_ref(word)].concat();
            if !self.0.contains_key(&below) {
                let is_type = word.starts_with(char::is_uppercase) && most > 0;
                let other = self.0[&at]
                    .iter()
                    .find(|other| is_type && other.len() > 1 && other.last() == Some(word));
                return other.and_then(|other| self.module(&at, other, most - 1)).or(Some(at));
            }
            at = below;
        }
        Some(at)
    }

    fn cycles(&self) -> Vec<String> {
        let mut folders: BTreeMap<&[String], Dependencies> = BTreeMap::new();
        for (from, paths) in &self.0 {
            for to in paths.iter().filter_map(|path| self.module(from, path, 4)) {
                let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if let (Some(a), Some(b)) = (from.get(common), to.get(common)) {
                    folders
                        .entry(&from[..common])
                        .or_default()
                        .entry(a.clone())
                        .or_default()
                        .insert(b.clone());
                }
            }
        }
        let left = folders
            .into_iter()
            .map(|(folder, dependencies)| (folder.join("::"), cycle(dependencies)));
        left.filter(|(_, dependencies)| !dependencies.is_empty())
            .map(|(folder, dependencies)| format!("in `{folder}`: {dependencies:?}"))
            .collect()
    }
}

/// Repeatedly removes a module that does not depend on any remaining module, or on which no
/// remaining module depends. The modules that are left form cycles or connect them.
fn cycle(mut dependencies: Dependencies) -> Dependencies {
    loop {
        let known: BTreeSet<String> = dependencies.values().flatten().cloned().collect();
        let left =
            dependencies.iter().filter(|(name, _)| known.contains(*name)).map(|(name, others)| {
                (
                    name.clone(),
                    others
                        .iter()
                        .filter(|other| dependencies.contains_key(*other))
                        .cloned()
                        .collect(),
                )
            });
        let left: Dependencies =
            left.filter(|(_, others): &(String, BTreeSet<String>)| !others.is_empty()).collect();
        if left == dependencies {
            return left;
        }
        dependencies = left;
    }
}

/// Collects the paths in a sequence of tokens. If a path is within braces (as in `use a::{b, c}`),
/// it begins with the path before the braces. Code that is only for tests or documentation is
/// skipped.
fn paths(tokens: TokenStream, prefix: &[String], found: &mut Vec<Name>) {
    let (mut path, mut joins, mut is_test) = (prefix.to_vec(), 0, false);
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let colon =
            |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ':');
        joins = if colon(&token) { joins + 1 } else { joins };
        match &token {
            TokenTree::Ident(word) => {
                path = if joins == 2 { path } else { prefix.to_vec() };
                path.push(word.to_string());
                if !is_test && !tokens.peek().is_some_and(colon) {
                    found.push(path.clone());
                }
            }
            TokenTree::Group(group) => {
                // Only attributes are converted to text, because other groups contain whole modules.
                if group.delimiter() == Delimiter::Bracket {
                    let text = token.to_string().replace(' ', "");
                    is_test |= ["[cfg(test)", "[cfg(all(test", "[cfg(doc)"]
                        .iter()
                        .any(|alone| text.starts_with(alone));
                }
                if !is_test {
                    paths(group.stream(), if joins == 2 { &path } else { &[] }, found);
                }
                is_test &= group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Punct(mark) => is_test &= mark.as_char() != ';',
            TokenTree::Literal(_) => {}
        }
        joins = if colon(&token) { joins } else { 0 };
    }
}

#[test]
fn no_crate_has_a_cycle_of_modules() {
    let members = ["workloads", "results", "results/plot"].map(project).into_iter();
    let in_folders = ["framework", "plugins"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(project(folder)).unwrap());
    let mut read = 0;
    for member in members
        .chain(in_folders.map(|entry| entry.unwrap().path()))
        .filter(|m| m.join("src").is_dir())
    {
        let mut modules = Modules::default();
        for root in ["lib.rs", "main.rs"]
            .map(|file| member.join("src").join(file))
            .iter()
            .filter(|file| file.is_file())
        {
            modules.read(root, &member.join("src"), &Name::new());
        }
        read += modules.0.len();
        assert_eq!(modules.cycles(), [""; 0], "{}", member.display());
    }
    assert!(read > 300, "{read}");
}

#[test]
fn cycles_through_other_modules_and_re_exports_are_found() {
    let modules = |sources: &[(&str, &str)]| {
        let mut modules = Modules::default();
        for (name, source) in [&[("", "pub use c::C;")], sources].concat() {
            modules.add(
                name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect(),
                source,
            );
        }
        modules.cycles().len()
    };
    let (a, b) =
        (("a", "use super::b::{self, B};"), ("b::below", "fn f() -> crate::C { crate::C }"));
    assert_eq!(modules(&[a, b, ("b", "mod below;"), ("c", "pub struct C;")]), 0);
    assert_eq!(modules(&[a, b, ("b", "mod below;"), ("c", "pub struct C(crate::a::A);")]), 1);
    assert_eq!(
        modules(&[a, b, ("b", "mod below;"), ("c", "#[cfg(test)] mod tests { use crate::a::A; }")]),
        0
    );
    assert_eq!(
        modules(&[("a", "mod x; use x::X;"), ("a::x", "use super::A;"), ("c", "")]),
        0,
        "one idea in parts"
    );
}
