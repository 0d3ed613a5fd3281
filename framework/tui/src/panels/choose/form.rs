//! A form for the parameters of an algorithm or a machine. It shows the value and the meaning of
//! each parameter.

use crate::paint::{Painter, cut, widest, wrap};
use crate::panel::{List, wrap_index};
use crate::session::Session;
use crate::session::chosen::{FormParameter, ListKind};
use crate::session::trial::{StepSize, next_value};
use ratatui::layout::Rect;
use swapmeet_core::cost::machine::parameters;
use swapmeet_runner::input::InputError;

#[derive(Debug)]
pub(super) struct Form {
    pub(super) list: List,
    pub(super) kind: ListKind,
    /// The index of the spec that is edited; `None` if the spec is new.
    pub(super) instead: Option<usize>,
    name: String,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    parameter: FormParameter,
    value: String,
}

impl Field {
    fn is_changed(&self) -> bool {
        self.value != self.parameter.default
    }
}

impl Form {
    /// Creates the form of a spec; `None` if it has no parameters.
    pub(super) fn new(
        session: &Session,
        kind: ListKind,
        spec: &str,
        instead: Option<usize>,
    ) -> Option<Self> {
        let (name, given) = spec.split_once(':').unwrap_or((spec, ""));
        let given: Vec<(&str, &str)> =
            given.split(',').filter_map(|arg| arg.split_once('=')).collect();
        let parameters = session.chosen.parameters(kind, name, &session.registry);
        let field = |parameter: FormParameter| {
            let own = given.iter().find(|(key, _)| *key == parameter.key);
            let value = own.map_or(&*parameter.default, |(_, value)| value).to_owned();
            Field { parameter, value }
        };
        let fields: Vec<Field> = parameters.into_iter().map(field).collect();
        (!fields.is_empty()).then(|| Self {
            list: List::default(),
            kind,
            instead,
            name: name.to_owned(),
            fields,
        })
    }

    pub(super) fn lines(&self) -> usize {
        self.fields.len()
    }

    pub(super) fn field(&self) -> Option<(&str, &str)> {
        self.fields.get(self.list.cursor).map(|field| (&*field.parameter.key, &*field.value))
    }

    pub(super) fn spec(&self) -> String {
        let set = self.fields.iter().filter(|field| field.is_changed());
        let text = |field: &Field| format!("{}={}", field.parameter.key, field.value);
        let set: Vec<String> = set.map(text).collect();
        if set.is_empty() { self.name.clone() } else { format!("{}:{}", self.name, set.join(",")) }
    }

    /// Sets the field under the cursor if the resulting spec is valid. An empty text restores the
    /// default.
    pub(super) fn set(&mut self, text: &str, session: &Session) -> Result<(), InputError> {
        let at = self.list.cursor;
        let Some(field) = self.fields.get_mut(at) else { return Ok(()) };
        let before = std::mem::replace(&mut field.value, text.to_owned());
        if text.is_empty() {
            field.value.clone_from(&field.parameter.default);
        }
        let spec = self.spec();
        match session.chosen.check(self.kind, &spec, &session.registry) {
            Ok(_) => {
                // If the user changes the model, the form needs the parameters of the new model.
                if let Some(new) = Self::new(session, self.kind, &spec, self.instead)
                    .filter(|_| self.is_of_a_model())
                {
                    self.fields = new.with_values_of(&self.name, session);
                }
                self.list.cursor = at.min(self.fields.len().saturating_sub(1));
                Ok(())
            }
            Err(error) => {
                self.fields[at].value = before;
                Err(error)
            }
        }
    }

    fn is_of_a_model(&self) -> bool {
        self.kind == ListKind::Machines
    }

    /// Returns the fields of the selected model. Values that the user has set are kept.
    fn with_values_of(self, name: &str, session: &Session) -> Vec<Field> {
        let is_model = |field: &&Field| field.parameter.key == "model" && field.is_changed();
        let Some(model) = self.fields.iter().find(is_model) else { return self.fields };
        let spec = format!("{name}:model={}", model.value);
        let of_model = session.chosen.parameters(self.kind, &spec, &session.registry);
        if of_model.is_empty() {
            return self.fields;
        }
        let (default, own) = (&model.parameter.default, &self.fields);
        let field = |parameter: FormParameter| {
            let known = own.iter().find(|field| field.parameter.key == parameter.key);
            let value = known.map_or(&parameter.default, |field| &field.value).clone();
            let is_model = parameter.key == "model";
            let default = if is_model { default.clone() } else { parameter.default };
            Field { parameter: FormParameter { default, ..parameter }, value }
        };
        of_model.into_iter().map(field).collect()
    }

    pub(super) fn turn(&mut self, up: bool, session: &Session) -> Result<(), InputError> {
        let Some(field) = self.fields.get(self.list.cursor) else { return Ok(()) };
        let parameter = parameters()
            .into_iter()
            .find(|p| self.is_of_a_model() && p.key() == field.parameter.key);
        let next = match parameter {
            Some(parameter) => next_value(parameter, &field.value, up, StepSize::Small),
            None => {
                let values = &field.parameter.values;
                let at = values.iter().position(|value| *value == field.value).unwrap_or(0);
                values.get(wrap_index(at, if up { 1 } else { -1 }, values.len())).cloned()
            }
        };
        match next {
            Some(text) => self.set(&text, session),
            None => Ok(()),
        }
    }

    /// Draws the fields. Below the fields, draws the description of the field under the cursor.
    pub(super) fn draw(&self, painter: &mut Painter<'_, '_>, area: Rect) -> u16 {
        // The first row shows the spec that results from the fields, so that users learn the
        // notation of specs.
        let theme = painter.theme;
        let Some(here) = self.fields.get(self.list.cursor) else { return 0 };
        painter.put(
            area,
            4,
            0,
            &cut(&format!("= {}", self.spec()), area.width.saturating_sub(6)),
            theme.accent,
        );
        // Reserve at most three rows at the bottom for the description. The fields scroll in the
        // rows above it.
        let FormParameter { about, values, .. } = &here.parameter;
        let separator = if values.is_empty() { "" } else { "; " };
        let about = format!("{about}{separator}{}", values.join(" "));
        let about = wrap(&about, area.width.saturating_sub(8));
        let lines = (about.len() as u16).min(area.height.saturating_sub(4)).min(3);
        // Changed fields have a different colour.
        let height = area.height.saturating_sub(1 + lines);
        let first = self.list.first_line(self.fields.len(), usize::from(height));
        let names = widest(self.fields.iter().map(|field| &field.parameter.key));
        let mut y = 1;
        for (index, field) in self.fields.iter().enumerate().skip(first).take(usize::from(height)) {
            let style = if field.is_changed() { theme.accent } else { theme.text };
            let here = index == self.list.cursor;
            let style = painter.list_line(area, y, index, here, style);
            painter.put(area, 6, y, &field.parameter.key, style);
            let shown = if field.value.is_empty() { "(default)" } else { &field.value };
            painter.put(area, 8 + names, y, shown, style);
            y += 1;
        }
        // Draw the description directly below the last field.
        for line in about.iter().take(usize::from(lines)) {
            painter.put(area, 6, y, line, theme.dim);
            y += 1;
        }
        y
    }
}
