//! The what-if panel. It has sliders for the parameters of a machine and for the block size. It
//! ranks the algorithms by the resulting times.

use crate::keys::{Binding, ENTER, LEFT, RIGHT, bind, ch, key};
use crate::paint::{Painter, cut, widest};
use crate::panel::{Keyed, List, Panel, list_in_field};
use crate::session::comparison::UNCHARGED;
use crate::session::what_if::{Slider, StepSize, presets_of};
use crate::session::{Request, Session};
use crossterm::event::KeyCode;
use ratatui::layout::Rect;
use swapmeet_results::duration;
use swapmeet_runner::input::{InputError, Text};

#[derive(Debug, Default)]
pub(crate) struct WhatIf {
    list: List,
    input_target: Option<InputTarget>,
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
    const TAB: &'static str = "If";
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

    fn act(&mut self, action: Action, session: &mut Session) {
        let slider = self.slider(session);
        match (action, slider) {
            (Action::ResetAll, _) => session.reset_slider(None),
            (Action::SaveMachine, _) => {
                self.ask(InputTarget::Name, "name of the machine", "mine", session);
            }
            (Action::Type, Some(slider)) => {
                self.ask(InputTarget::Value, slider.name(), &slider.value, session);
            }
            (Action::Reset, Some(slider)) => session.reset_slider(Some(&slider)),
            (Action::Less, Some(slider)) => session.move_slider(&slider, false, StepSize::Small),
            (Action::More, Some(slider)) => session.move_slider(&slider, true, StepSize::Small),
            (Action::MuchLess, Some(slider)) => {
                session.move_slider(&slider, false, StepSize::Large);
            }
            (Action::MuchMore, Some(slider)) => session.move_slider(&slider, true, StepSize::Large),
            (
                Action::Less
                | Action::More
                | Action::MuchLess
                | Action::MuchMore
                | Action::Type
                | Action::Reset,
                None,
            ) => {}
        }
    }

    fn is_idle(&self, action: Action, session: &Session) -> bool {
        match action {
            Action::Reset | Action::ResetAll | Action::SaveMachine => !session.what_if.is_on(),
            Action::Less | Action::More | Action::MuchLess | Action::MuchMore | Action::Type => {
                session.what_if.sliders().is_empty()
            }
        }
    }
}

impl Panel for WhatIf {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        session.what_if.sliders().len()
    }

    fn no_filter_reason(&self) -> Option<&'static str> {
        Some("sliders have no filter")
    }

    /// Sets the sliders to the machine and the block size of the case in focus. If the user has
    /// changed a slider, does nothing.
    fn activated(&mut self, session: &mut Session) {
        session.start_what_if();
    }

    fn open(&mut self, session: &mut Session) {
        self.act(Action::Type, session);
    }

    fn accept(&mut self, text: &str, session: &mut Session) -> Result<(), InputError> {
        let result = match (self.input_target, self.slider(session)) {
            (Some(InputTarget::Name), _) => session.save_machine(text),
            (Some(InputTarget::Value), Some(slider)) => session.set_slider(&slider, text),
            (Some(InputTarget::Value), None) | (None, _) => Ok(()),
        };
        result.map_err(|why| Text::flag("value", text).error(why))
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let tried = &session.what_if;
        let title = match tried.in_words() {
            Some(words) if tried.is_on() => format!("What if: changed to {words}"),
            Some(words) => format!("What if: {words}"),
            None => "What if".to_owned(),
        };
        let area = painter.panel(area, &title);
        let sliders = tried.sliders();
        if sliders.is_empty() {
            let text = "No sliders yet: they change the machine of a case that has run. Select cases in Explore (1), then press R to run them.";
            return painter.placeholder(area, text);
        }
        // Draw the sliders and the ranking side by side if the panel is wide enough. Otherwise,
        // draw the ranking below the sliders.
        let about = 3.min(area.height / 5);
        let body = Rect { height: area.height.saturating_sub(about), ..area };
        let (left, right) = if area.width >= 110 {
            let wide = area.width * 11 / 20;
            (
                Rect { width: wide, ..body },
                Rect { x: body.x + wide + 1, width: body.width.saturating_sub(wide + 1), ..body },
            )
        } else {
            let high = (body.height * 3 / 5).min(sliders.len() as u16);
            (
                Rect { height: high, ..body },
                Rect { y: body.y + high, height: body.height.saturating_sub(high), ..body },
            )
        };
        self.draw_sliders(painter, &sliders, left);
        ranking(painter, session, right);
        if let Some(slider) = sliders.get(self.list.cursor) {
            let foot = Rect { y: body.bottom(), height: about, ..area };
            painter.paragraph(foot, &explain(slider), painter.theme.dim);
        }
    }
}

impl WhatIf {
    fn slider(&self, session: &Session) -> Option<Slider> {
        session.what_if.sliders().into_iter().nth(self.list.cursor)
    }

    fn ask(&mut self, what: InputTarget, title: &str, text: &str, session: &mut Session) {
        self.input_target = Some(what);
        session.request = Some(Request::Text(title.to_owned(), text.to_owned()));
    }

    fn draw_sliders(&self, painter: &mut Painter<'_, '_>, sliders: &[Slider], area: Rect) {
        // Names and values are in columns. The scales take the remaining width.
        let theme = painter.theme;
        let names = widest(sliders.iter().map(Slider::name));
        let values = widest(sliders.iter().map(|slider| &slider.value)).clamp(6, 14);
        let first = self.list.first_line(sliders.len(), usize::from(area.height));
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
            let x = if room >= 10
                && scale(
                    painter,
                    slider,
                    here,
                    Rect { x: area.x + x, y: area.y + y, width: room, height: 1 },
                ) {
                x + room + 1
            } else {
                x
            };
            // Show the original value, which the parameter has after a reset.
            if slider.is_changed() {
                painter.put(
                    area,
                    x,
                    y,
                    &format!("was {}", slider.was),
                    if here { style } else { theme.dim },
                );
            }
        }
        painter.scrollbar(area, first, sliders.len());
    }
}

/// Draws the scale of a numeric slider, with a mark at the value of each machine preset. `here` is
/// true if the cursor is on the slider. Returns false if the slider is not numeric.
fn scale(painter: &mut Painter<'_, '_>, slider: &Slider, here: bool, area: Rect) -> bool {
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
    // The scale is logarithmic. A logarithmic scale has no position for 0, so 0 is drawn at the
    // left end.
    let place = |x: f64| {
        let share = if x > 0.0 { (x / least).ln() / (most / least).ln() } else { 0.0 };
        (share.clamp(0.0, 1.0) * f64::from(area.width.saturating_sub(1))).round() as u16
    };
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
    true
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

/// For each algorithm of the group in focus, draws its time and the ratio to its time before the
/// sliders were changed.
fn ranking(painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
    // Rank only the algorithms of the group in focus, because times of different workloads cannot
    // be compared.
    let theme = painter.theme;
    let compared = &session.compared;
    let lines = compared.lines_of(session.group);
    let mut y = 0;
    if let Some(group) = compared.groups.get(session.group).filter(|_| area.height > 3) {
        let setting = &group.setting;
        let text = format!("{}, {}, {}", setting.topology, setting.workload, setting.machine);
        painter.put(area, 1, y, &cut(&text, area.width.saturating_sub(2)), theme.accent);
        y += 1;
    }
    // All bars have the same scale, so that their lengths can be compared.
    let foot = u16::from(area.height > 5);
    let names = widest(lines.iter().map(|line| &line.stats.algorithm)).min(area.width / 3);
    let most = lines.iter().filter_map(|line| line.stats.mean()).fold(0.0, f64::max);
    // If not all lines fit, the row after the last line says how many are hidden.
    let room = usize::from(area.height.saturating_sub(y + foot));
    let hidden = if lines.len() > room { lines.len() + 1 - room.max(1) } else { 0 };
    for line in &lines[..lines.len() - hidden] {
        // Show the status of an algorithm that has no time, instead of a bar.
        let Some(time) = line.stats.mean() else {
            painter.put(area, 1, y, &cut(&line.stats.algorithm, names), theme.dim);
            painter.put(area, names + 3, y, &line.stats.status.to_string(), theme.dim);
            y += 1;
            continue;
        };
        if line.is_uncharged {
            painter.put(area, 0, y, UNCHARGED, theme.warn);
        }
        // A time is outdated if it does not include the changes of the sliders yet. Show no ratio
        // for such a time.
        let is_outdated = compared.is_outdated(&line.stats.algorithm);
        let style = if is_outdated { theme.dim } else { theme.text };
        painter.put(area, 1, y, &cut(&line.stats.algorithm, names), style);
        let text = format!("{}{}", if is_outdated { "~" } else { "" }, duration(time));
        painter.put_right(area, names + 13, y, &text, style);
        let setting = &compared.groups[line.group].setting;
        let key = [&setting.topology, &setting.workload, &line.stats.algorithm].map(Clone::clone);
        // The ratio refers to the time before the user changed any parameter.
        let before = compared
            .scenario
            .as_ref()
            .and_then(|result| result.before.get(&key))
            .filter(|_| !is_outdated);
        if let Some(before) = before.filter(|before| **before > 0.0) {
            painter.put_right(
                area,
                names + 23,
                y,
                &format!("x {:.3}", time / before),
                theme.accent,
            );
        }
        // The bar takes the remaining width of the row.
        let room = area.width.saturating_sub(names + 26);
        let long = if most > 0.0 { (time / most * f64::from(room)).round() as u16 } else { 0 };
        for x in 0..long {
            painter.dot(area, names + 25 + x, y, if is_outdated { '░' } else { '█' }, style);
        }
        y += 1;
    }
    if hidden > 0 && room > 0 {
        let text = format!("{hidden} further algorithms are hidden");
        painter.put(area, 1, y, &text, theme.dim);
    }
    // The last row shows how many schedules can be recalculated without being planned again.
    if foot > 0 {
        let (known, all) = session.what_if.known();
        let mut text = format!("step data of {known} of {all} schedules available");
        if let Some(result) = &compared.scenario {
            text = format!(
                "{} recalculated instantly in {:.1} ms",
                result.instant,
                result.took.as_secs_f64() * 1e3
            );
            if !result.outdated.is_empty() {
                text += &format!(
                    "; {} outdated (~) until workers have planned them",
                    result.outdated.len()
                );
            }
        }
        painter.put(area, 1, area.height.saturating_sub(1), &text, theme.dim);
    }
}
