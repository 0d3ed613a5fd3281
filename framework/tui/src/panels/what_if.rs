//! What if: a slider for each parameter of a machine and for the size of blocks, and who is how
//! fast then.

use crate::keys::{Binding, ENTER, LEFT, RIGHT, bind, ch, key};
use crate::paint::{Painter, cut, first_shown, width, wrap};
use crate::panel::{Keyed, List, Panel};
use crate::session::comparison::Line;
use crate::session::what_if::{Notch, Slider, presets_of};
use crate::session::{Request, Session};
use crossterm::event::KeyCode;
use ratatui::layout::Rect;
use swapmeet_results::duration;
use swapmeet_runner::input::{InputError, Text};

/// The sliders, by its cursor.
#[derive(Debug, Default)]
pub(crate) struct WhatIf {
    list: List,
    asked: Option<Asked>,
}

/// What a text was asked for.
#[derive(Debug, Clone, Copy)]
enum Asked {
    /// The value of the slider under the cursor.
    Value,
    /// The name of a machine of one's own.
    Name,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Less,
    More,
    MuchLess,
    MuchMore,
    Type,
    PutBack,
    PutAllBack,
    Keep,
}

impl Keyed for WhatIf {
    const TAB: &'static str = "If";
    const TITLE: &'static str = "What if";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Less, LEFT, "a little less of what the cursor is on"),
        bind(Action::More, RIGHT, "a little more").pair("←→", "less, more"),
        bind(Action::MuchLess, &[ch('[')], "a tenth of it; of blocks a sixteenth"),
        bind(Action::MuchMore, &[ch(']')], "ten times as much; of blocks sixteen times")
            .pair("[ ]", "x 10"),
        bind(Action::Type, ENTER, "type a value").hint("value"),
        bind(Action::PutBack, &[ch('d'), key(KeyCode::Delete)], "as it was").hint("as it was"),
        bind(Action::PutAllBack, &[ch('D')], "all as it was: the rows that there are"),
        bind(
            Action::Keep,
            &[ch('m')],
            "make what is tried a machine of the experiment's own, and pick it",
        )
        .hint("machine"),
    ];

    fn act(&mut self, action: Action, session: &mut Session) {
        let slider = self.slider(session);
        match (action, slider) {
            (Action::PutAllBack, _) => session.put_back(None),
            (Action::Keep, _) => self.ask(Asked::Name, "name of the machine", "mine", session),
            (Action::Type, Some(slider)) => {
                self.ask(Asked::Value, slider.name(), &slider.value, session)
            }
            (Action::PutBack, Some(slider)) => session.put_back(Some(&slider)),
            (Action::Less, Some(slider)) => session.slide(&slider, false, Notch::Small),
            (Action::More, Some(slider)) => session.slide(&slider, true, Notch::Small),
            (Action::MuchLess, Some(slider)) => session.slide(&slider, false, Notch::Large),
            (Action::MuchMore, Some(slider)) => session.slide(&slider, true, Notch::Large),
            (
                Action::Less
                | Action::More
                | Action::MuchLess
                | Action::MuchMore
                | Action::Type
                | Action::PutBack,
                None,
            ) => {}
        }
    }

    fn is_idle(&self, action: Action, session: &Session) -> bool {
        match action {
            Action::PutBack | Action::PutAllBack | Action::Keep => !session.what_if.is_on(),
            Action::Less | Action::More | Action::MuchLess | Action::MuchMore | Action::Type => {
                session.what_if.sliders().is_empty()
            }
        }
    }
}

impl Panel for WhatIf {
    fn list(&self) -> &List {
        &self.list
    }

    fn list_mut(&mut self) -> &mut List {
        &mut self.list
    }

    fn lines(&self, session: &Session) -> usize {
        session.what_if.sliders().len()
    }

    fn unfiltered(&self) -> Option<&'static str> {
        Some("sliders are few: up and down go from one to the next")
    }

    /// What is tried is the machine of the case in focus.
    fn enter(&mut self, session: &mut Session) {
        session.try_out();
    }

    fn open(&mut self, session: &mut Session) {
        self.act(Action::Type, session);
    }

    fn accept(&mut self, text: &str, session: &mut Session) -> Result<(), InputError> {
        let result = match (self.asked, self.slider(session)) {
            (Some(Asked::Name), _) => session.keep_machine(text),
            (Some(Asked::Value), Some(slider)) => session.set_slider(&slider, text),
            (Some(Asked::Value), None) | (None, _) => Ok(()),
        };
        result.map_err(|why| Text::flag("value", text).error(why))
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let tried = &session.what_if;
        let title = match tried.in_words() {
            Some(words) if tried.is_on() => format!("What if it were {words}"),
            Some(words) => format!("What if: on {words}"),
            None => "What if".to_owned(),
        };
        let area = painter.panel(area, &title);
        let sliders = tried.sliders();
        if sliders.is_empty() {
            let text = "Nothing to try yet: sliders change the machine of a case that has run. Pick what to run in Explore (1), then R runs it.";
            return painter.nothing(area, text);
        }
        // Beside each other where there is room, else one above the other.
        let about = 3.min(area.height / 5);
        let body = Rect { height: area.height - about, ..area };
        let (left, right) = if area.width >= 110 {
            let wide = area.width * 11 / 20;
            (
                Rect { width: wide, ..body },
                Rect { x: body.x + wide + 1, width: body.width - wide - 1, ..body },
            )
        } else {
            let high = (body.height * 3 / 5).min(sliders.len() as u16);
            (
                Rect { height: high, ..body },
                Rect { y: body.y + high, height: body.height - high, ..body },
            )
        };
        self.draw_sliders(painter, &sliders, left);
        ranking(painter, session, right);
        if let Some(slider) = sliders.get(self.list.cursor) {
            let text = explain(slider);
            let lines = wrap(&text, area.width.saturating_sub(2));
            for (y, line) in (area.height - about..area.height).zip(&lines) {
                painter.put(area, 1, y, line, painter.theme.dim);
            }
        }
    }
}

impl WhatIf {
    fn slider(&self, session: &Session) -> Option<Slider> {
        session.what_if.sliders().into_iter().nth(self.list.cursor)
    }

    fn ask(&mut self, what: Asked, title: &str, text: &str, session: &mut Session) {
        self.asked = Some(what);
        session.request = Some(Request::Text(title.to_owned(), text.to_owned()));
    }

    fn draw_sliders(&self, painter: &mut Painter<'_, '_>, sliders: &[Slider], area: Rect) {
        let theme = painter.theme;
        let names = sliders.iter().map(|slider| width(slider.name())).max().unwrap_or(0);
        let values =
            sliders.iter().map(|slider| width(&slider.value)).max().unwrap_or(0).clamp(6, 14);
        let first = first_shown(self.list.cursor, sliders.len(), usize::from(area.height));
        for (y, (index, slider)) in (0..area.height).zip(sliders.iter().enumerate().skip(first)) {
            let here = index == self.list.cursor;
            let style = match (here, slider.is_changed()) {
                (true, _) => painter.cursor(),
                (false, true) => theme.accent,
                (false, false) => theme.text,
            };
            if here {
                painter.shade(area, y, style);
            }
            painter.put(area, 1, y, slider.name(), style);
            painter.put_right(area, names + 3 + values, y, &cut(&slider.value, values), style);
            let x = names + 5 + values;
            let room = area.width.saturating_sub(x + 14);
            let x = if room >= 10
                && scale(
                    painter,
                    slider,
                    Rect { x: area.x + x, y: area.y + y, width: room, height: 1 },
                ) {
                x + room + 1
            } else {
                x
            };
            if slider.is_changed() {
                painter.put(
                    area,
                    x,
                    y,
                    &format!("was {}", slider.was),
                    if here { style } else { theme.dim },
                );
            }
            painter.hit(area, 0, y, area.width, crate::hits::Spot::Line(index));
        }
        painter.scrollbar(area, first, sliders.len());
    }
}

/// A slider where presets have numbers: theirs as marks, its own as a knob. False if it is no
/// number.
fn scale(painter: &mut Painter<'_, '_>, slider: &Slider, area: Rect) -> bool {
    let Some(parameter) = slider.parameter else { return false };
    let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
    let (Some(value), Some(was)) = (number(&slider.value), number(&slider.was)) else {
        return false;
    };
    let presets: Vec<f64> =
        presets_of(parameter).iter().filter_map(|(text, _)| number(text)).collect();
    let positive = || presets.iter().copied().chain([value, was]).filter(|x| *x > 0.0);
    let (least, most) =
        (positive().fold(f64::INFINITY, f64::min) / 4.0, positive().fold(0.0, f64::max) * 4.0);
    if most <= 0.0 || area.width < 4 {
        return false;
    }
    // Nothing has no logarithm: it stands at the left end.
    let place = |x: f64| {
        let share = if x > 0.0 { (x / least).ln() / (most / least).ln() } else { 0.0 };
        (share.clamp(0.0, 1.0) * f64::from(area.width - 1)).round() as u16
    };
    let theme = painter.theme;
    for x in 0..area.width {
        painter.dot(area, x, 0, '─', theme.dim);
    }
    for preset in presets {
        painter.dot(area, place(preset), 0, '┼', theme.dim);
    }
    painter.dot(area, place(was), 0, '○', theme.text);
    painter.dot(
        area,
        place(value),
        0,
        '●',
        if slider.is_changed() { theme.warn } else { theme.text },
    );
    true
}

/// What a slider means, and what presets have.
fn explain(slider: &Slider) -> String {
    let Some(parameter) = slider.parameter else {
        return format!("{}: {}", slider.name(), slider.meaning());
    };
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for (text, preset) in presets_of(parameter) {
        match values.iter_mut().find(|(known, _)| known == text) {
            Some((_, presets)) => presets.push(*preset),
            None => values.push((text.clone(), vec![*preset])),
        }
    }
    let list = values
        .iter()
        .map(|(text, presets)| format!("{text} ({})", presets.join(" ")))
        .collect::<Vec<_>>();
    format!("{}: {}. Presets: {}", slider.name(), slider.meaning(), list.join(", "))
}

/// Who is how fast in the group that was looked at, and against what it was.
fn ranking(painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
    let theme = painter.theme;
    let compared = &session.compared;
    let lines: Vec<&Line> =
        compared.lines.iter().filter(|line| line.group == session.group).collect();
    let mut y = 0;
    if let Some(group) = compared.groups.get(session.group).filter(|_| area.height > 3) {
        let setting = &group.setting;
        let text = format!("{}, {}, {}", setting.topology, setting.workload, setting.machine);
        painter.put(area, 1, y, &cut(&text, area.width.saturating_sub(2)), theme.accent);
        y += 1;
    }
    let foot = u16::from(area.height > 5);
    let names = lines
        .iter()
        .map(|line| width(&line.stats.algorithm))
        .max()
        .unwrap_or(0)
        .min(area.width / 3);
    let most = lines.iter().filter_map(|line| line.stats.mean()).fold(0.0, f64::max);
    for line in &lines {
        if y + foot >= area.height {
            break;
        }
        let Some(time) = line.stats.mean() else {
            painter.put(area, 1, y, &cut(&line.stats.algorithm, names), theme.dim);
            painter.put(area, names + 3, y, &line.stats.status.to_string(), theme.dim);
            y += 1;
            continue;
        };
        let is_old = compared.is_old(&line.stats.algorithm);
        let style = if is_old { theme.dim } else { theme.text };
        painter.put(area, 1, y, &cut(&line.stats.algorithm, names), style);
        let text = format!("{}{}", if is_old { "~" } else { "" }, duration(time));
        painter.put_right(area, names + 13, y, &text, style);
        let setting = &compared.groups[line.group].setting;
        let key = [&setting.topology, &setting.workload, &line.stats.algorithm].map(Clone::clone);
        let before =
            compared.tried.as_ref().and_then(|tried| tried.before.get(&key)).filter(|_| !is_old);
        if let Some(before) = before.filter(|before| **before > 0.0) {
            painter.put_right(
                area,
                names + 23,
                y,
                &format!("x {:.3}", time / before),
                theme.accent,
            );
        }
        let room = area.width.saturating_sub(names + 26);
        let long = if most > 0.0 { (time / most * f64::from(room)).round() as u16 } else { 0 };
        for x in 0..long {
            painter.dot(area, names + 25 + x, y, if is_old { '░' } else { '█' }, style);
        }
        y += 1;
    }
    if foot > 0 {
        let (known, all) = session.what_if.known();
        let mut text = format!("steps of {known} of {all} schedules known");
        if let Some(tried) = &compared.tried {
            text = format!(
                "{} priced at once in {:.1} ms",
                tried.at_once,
                tried.took.as_secs_f64() * 1e3
            );
            if !tried.old.is_empty() {
                text +=
                    &format!("; {} as before (~) until a worker has planned them", tried.old.len());
            }
        }
        painter.put(area, 1, area.height - 1, &text, theme.dim);
    }
}
