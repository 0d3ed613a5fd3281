//! The what-if view. It has sliders for the parameters of a machine and for the block size. The
//! selected group is run again on the changed machine, and the algorithms are ranked by their times.

use crate::click_map::PanelPosition;
use crate::keys::{Binding, ENTER, LEFT, RIGHT, bind, ch, key};
use crate::paint::{Painter, below, cut, widest};
use crate::panel::{Keyed, List, Panel, list_in_field};
use crate::session::comparison::{Line, UNCHARGED};
use crate::session::trial::{Slider, StepSize, presets_of};
use crate::session::{Request, Requests, Session};
use crossterm::event::KeyCode;
use ratatui::layout::Rect;
use swapmeet_results::duration;
use swapmeet_runner::input::{InputError, Text};

#[derive(Debug, Default)]
pub(crate) struct WhatIf {
    list: List,
    input_target: Option<InputTarget>,
    /// The scale of each slider, as it was last drawn.
    scales: Vec<Scale>,
}

/// A logarithmic scale with the values at its ends.
#[derive(Debug, Clone, Copy, Default)]
struct Scale {
    least: f64,
    most: f64,
    columns: u16,
}

/// The number of marks that each slider has. It is larger than any screen is wide.
const SCALE: usize = 1 << 16;

impl Scale {
    /// Returns the column of a value. The scale has no position for 0, so 0 is at the left end.
    fn column(&self, x: f64) -> u16 {
        let share =
            if x > 0.0 { (x / self.least).ln() / (self.most / self.least).ln() } else { 0.0 };
        (share.clamp(0.0, 1.0) * f64::from(self.columns.saturating_sub(1))).round() as u16
    }

    /// Returns the value at a column, with two digits.
    fn value(&self, column: u16) -> String {
        let share = f64::from(column) / f64::from(self.columns.saturating_sub(1).max(1));
        let value = self.least * (self.most / self.least).powf(share);
        let value: f64 = format!("{value:.1e}").parse().unwrap_or(value);
        value.to_string()
    }
}

#[derive(Debug, Clone, Copy)]
enum InputTarget {
    Value,
    Name,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Less,
    More,
    MuchLess,
    MuchMore,
    Type,
    Reset,
    ResetAll,
    SaveMachine,
}

impl Keyed for WhatIf {
    const TITLE: &'static str = "What if";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Less, LEFT, "decrease the value a little"),
        bind(Action::More, RIGHT, "increase the value a little").pair("←→", "less, more"),
        bind(Action::MuchLess, &[ch('[')], "divide the value by 10 (block size: by 16)"),
        bind(Action::MuchMore, &[ch(']')], "multiply the value by 10 (block size: by 16)")
            .pair("[ ]", "x 10"),
        bind(Action::Type, ENTER, "type a value").hint("value"),
        bind(Action::Reset, &[ch('d'), key(KeyCode::Delete)], "reset the slider").hint("reset"),
        bind(Action::ResetAll, &[ch('D')], "reset all sliders"),
        bind(
            Action::SaveMachine,
            &[ch('m')],
            "add the changed machine to the experiment and select it",
        )
        .hint("machine"),
    ];

    fn act(&mut self, action: Action, session: &Session) -> Requests {
        let slider = self.slider(session);
        let moved = |slider: &Slider, up, size| match session.trial.moved(slider, up, size) {
            Some(Ok(changes)) => vec![Request::Try(changes)],
            Some(Err(why)) => vec![Request::Warn(why)],
            None => {
                let name = slider.name();
                vec![Request::Say(format!("{name} is at its limit: press Enter to type a value"))]
            }
        };
        match (action, slider) {
            (Action::ResetAll, _) => vec![Request::Try(Default::default())],
            (Action::SaveMachine, _) => self.ask(InputTarget::Name, "name of the machine", "mine"),
            (Action::Type, Some(slider)) => {
                self.ask(InputTarget::Value, slider.name(), &slider.value)
            }
            (Action::Reset, Some(slider)) => vec![Request::Try(session.trial.without(&slider))],
            (Action::Less, Some(slider)) => moved(&slider, false, StepSize::Small),
            (Action::More, Some(slider)) => moved(&slider, true, StepSize::Small),
            (Action::MuchLess, Some(slider)) => moved(&slider, false, StepSize::Large),
            (Action::MuchMore, Some(slider)) => moved(&slider, true, StepSize::Large),
            (_, None) => Requests::new(),
        }
    }

    fn is_idle(&self, action: Action, session: &Session) -> bool {
        match action {
            Action::Reset | Action::ResetAll | Action::SaveMachine => !session.trial.is_on(),
            Action::Less | Action::More | Action::MuchLess | Action::MuchMore | Action::Type => {
                session.trial.sliders().is_empty()
            }
        }
    }
}

impl Panel for WhatIf {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        session.trial.sliders().len()
    }

    fn has_filter(&self) -> bool {
        false
    }

    fn open(&mut self, session: &Session) -> Requests {
        self.act(Action::Type, session)
    }

    /// Moves the slider to the position of a click on its scale.
    fn click(&mut self, position: PanelPosition, session: &Session) -> Requests {
        let PanelPosition::Mark(at) = position else { return Requests::new() };
        let (slider, column) = (at / SCALE, at % SCALE);
        self.list.cursor = slider;
        let value = self.slider(session).and_then(|slider| {
            let text = self.scales.get(at / SCALE)?.value(column as u16);
            session.trial.set(&slider, &text).ok()
        });
        value.map(Request::Try).into_iter().collect()
    }

    fn accept(&mut self, text: &str, session: &Session) -> Result<Requests, InputError> {
        let request = match (self.input_target, self.slider(session)) {
            (Some(InputTarget::Name), _) => {
                session.trial.own_machine(text).and_then(|(own, text)| {
                    session.chosen.clone().add_machine(own.clone())?;
                    Ok(Request::AddMachine(own, text))
                })
            }
            (Some(InputTarget::Value), Some(slider)) => {
                session.trial.set(&slider, text).map(Request::Try)
            }
            (Some(InputTarget::Value), None) | (None, _) => return Ok(Requests::new()),
        };
        request.map(|request| vec![request]).map_err(|why| Text::flag("value", text).error(why))
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let tried = &session.trial;
        let title = match tried.in_words() {
            Some(words) if tried.is_on() => format!("What if: a trial of {words}"),
            _ => match session.selected_row() {
                // The name of the row's machine. Its case has the definition instead if the row is
                // from a file.
                Some((_, row)) => format!("What if: {}", row.specs()[3]),
                None => "What if".to_owned(),
            },
        };
        let area = painter.panel(area, &title);
        let sliders = tried.sliders();
        if sliders.is_empty() {
            let text = "No sliders yet: they change the machine of a case that has run. Choose cases in 1, then press R to run them.";
            return painter.placeholder(area, text);
        }
        // Draw the sliders and the ranking side by side if the panel is wide enough. Otherwise,
        // draw the ranking below the sliders.
        let about = 3.min(area.height / 5);
        let body = Rect { height: area.height.saturating_sub(about), ..area };
        let (left, right) = if area.width >= 110 {
            let wide = area.width * 11 / 20;
            let right = Rect { x: body.x + wide + 1, width: body.width - wide - 1, ..body };
            (Rect { width: wide, ..body }, right)
        } else {
            let high = (body.height * 3 / 5).min(sliders.len() as u16);
            (Rect { height: high, ..body }, below(body, high))
        };
        self.draw_sliders(painter, &sliders, left);
        ranking(painter, session, right);
        if let Some(slider) = sliders.get(self.list.cursor) {
            painter.paragraph(below(area, body.height), &explain(slider), painter.theme.dim);
        }
    }
}

impl WhatIf {
    fn slider(&self, session: &Session) -> Option<Slider> {
        session.trial.sliders().into_iter().nth(self.list.cursor)
    }

    fn ask(&mut self, what: InputTarget, title: &str, text: &str) -> Requests {
        self.input_target = Some(what);
        vec![Request::Ask(title.to_owned(), text.to_owned())]
    }

    fn draw_sliders(&mut self, painter: &mut Painter<'_, '_>, sliders: &[Slider], area: Rect) {
        let theme = painter.theme;
        let names = widest(sliders.iter().map(Slider::name));
        let values = widest(sliders.iter().map(|slider| &slider.value)).clamp(6, 14);
        let first = self.list.first_line(sliders.len(), usize::from(area.height));
        self.scales = vec![Scale::default(); sliders.len()];
        for (y, (index, slider)) in (0..area.height).zip(sliders.iter().enumerate().skip(first)) {
            // A parameter that the user has changed is highlighted until it is reset.
            let here = index == self.list.cursor;
            let style = if slider.is_changed() { theme.accent } else { theme.text };
            let style = painter.list_line(area, y, index, here, style);
            painter.put(area, 1, y, slider.name(), style);
            painter.put_right(area, names + 3 + values, y, &cut(&slider.value, values), style);
            let x = names + 5 + values;
            // Leave out a scale that would have less than ten columns, because it would be
            // unreadable. The 14 columns are reserved for the original value.
            let room = area.width.saturating_sub(x + 14);
            let place = Rect { x: area.x + x, y: area.y + y, width: room, height: 1 };
            let drawn = if room >= 10 { scale(painter, slider, here, place) } else { None };
            let x = if drawn.is_some() { x + room + 1 } else { x };
            self.scales[index] = drawn.unwrap_or_default();
            for column in 0..self.scales[index].columns {
                let mark = PanelPosition::Mark(index * SCALE + usize::from(column));
                painter.add_click(place, column, 0, 1, mark);
            }
            // Show the original value, which the parameter has after a reset.
            if slider.is_changed() {
                let style = if here { style } else { theme.dim };
                painter.put(area, x, y, &format!("was {}", slider.was), style);
            }
        }
        painter.scrollbar(area, first, sliders.len());
    }
}

/// Draws the scale of a numeric slider, with a mark at the value of each machine preset. `here` is
/// true if the cursor is on the slider. Returns `None` if the slider is not numeric.
fn scale(painter: &mut Painter<'_, '_>, slider: &Slider, here: bool, area: Rect) -> Option<Scale> {
    let parameter = slider.parameter?;
    let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
    let (value, was) = number(&slider.value).zip(number(&slider.was))?;
    let presets: Vec<f64> =
        presets_of(parameter).iter().filter_map(|(text, _)| number(text)).collect();
    let positive = || presets.iter().copied().chain([value, was]).filter(|x| *x > 0.0);
    let (least, most) =
        (positive().fold(f64::INFINITY, f64::min) / 4.0, positive().fold(0.0, f64::max) * 4.0);
    if most <= 0.0 || area.width < 4 {
        return None;
    }
    let scale = Scale { least, most, columns: area.width };
    let place = |x: f64| scale.column(x);
    // Under the cursor, use only the style of the cursor. The other colours of a theme cannot be
    // read on its background.
    let (theme, cursor) = (painter.theme, painter.cursor());
    let [dim, text, warn] =
        [theme.dim, theme.text, theme.warn].map(|s| if here { cursor } else { s });
    for x in 0..area.width {
        painter.dot(area, x, 0, '─', dim);
    }
    for preset in presets {
        painter.dot(area, place(preset), 0, '┼', dim);
    }
    painter.dot(area, place(was), 0, '○', text);
    painter.dot(area, place(value), 0, '●', if slider.is_changed() { warn } else { text });
    Some(scale)
}

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

/// For each algorithm of the selected group, draws its time in the trial, or in its row if no slider
/// is changed, and the ratio of the two.
fn ranking(painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
    let theme = painter.theme;
    let (compared, trial) = (&session.compared, &session.trial);
    let Some(group) = session.selected_group() else { return };
    let mut y = 0;
    if area.height > 3 {
        let setting = &compared.groups[group].setting;
        let text = match trial.in_words() {
            Some(words) if trial.is_on() => {
                format!("{}, {}: trial on {words}", setting.topology, setting.workload)
            }
            _ => format!("{}, {}, {}", setting.topology, setting.workload, setting.machine),
        };
        painter.put(area, 1, y, &cut(&text, area.width.saturating_sub(2)), theme.accent);
        y += 1;
    }
    // The times of the trial, or else those of the rows, the fastest first.
    let time = |line: &Line| match trial.is_on() {
        true => trial.time(&line.stats.algorithm),
        false => line.stats.mean().ok_or_else(|| line.stats.status.to_string()),
    };
    let mut lines: Vec<(&Line, Result<f64, String>)> =
        compared.lines_of(group).iter().map(|line| (line, time(line))).collect();
    let key = |time: &Result<f64, String>| time.clone().unwrap_or(f64::INFINITY);
    lines.sort_by(|(_, a), (_, b)| key(a).total_cmp(&key(b)));
    let most = lines.iter().filter_map(|(_, time)| time.as_ref().ok()).fold(0.0, |a, b| b.max(a));
    let foot = u16::from(area.height > 5);
    // If not all lines fit, the last row says how many are hidden.
    let room = usize::from(area.height.saturating_sub(y + foot));
    let hidden = if lines.len() > room { lines.len() + 1 - room.max(1) } else { 0 };
    lines.truncate(lines.len() - hidden);
    let names = widest(lines.iter().map(|(line, _)| &line.stats.algorithm));
    let names = names.min(area.width.saturating_sub(26));
    for (line, time) in &lines {
        if line.is_uncharged {
            painter.put(area, 0, y, UNCHARGED, theme.warn);
        }
        painter.put(area, 1, y, &cut(&line.stats.algorithm, names), theme.text);
        match time {
            Err(why) => drop(painter.put(area, names + 3, y, why, theme.dim)),
            Ok(time) => {
                painter.put_right(area, names + 13, y, &duration(*time), theme.text);
                let before = line.stats.mean().filter(|before| trial.is_on() && *before > 0.0);
                if let Some(before) = before {
                    let ratio = format!("x {:.3}", time / before);
                    painter.put_right(area, names + 23, y, &ratio, theme.accent);
                }
                let room = area.width.saturating_sub(names + 26);
                let long = (time / most.max(f64::MIN_POSITIVE) * f64::from(room)).round() as u16;
                (0..long).for_each(|x| painter.dot(area, names + 25 + x, y, '█', theme.text));
            }
        }
        y += 1;
    }
    if hidden > 0 && room > 0 {
        let text = format!("{hidden} further algorithms are hidden");
        painter.put(area, 1, y, &text, theme.dim);
    }
    if foot > 0 {
        let text = match (trial.is_on(), trial.awaits_results()) {
            (false, _) => "move a slider to run this group on another machine",
            (true, true) => "running this group again ...",
            (true, false) => "x is the ratio to the time in the table; m keeps the machine",
        };
        painter.put(area, 1, area.height.saturating_sub(1), text, theme.dim);
    }
}
