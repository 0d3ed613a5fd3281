use crate::bench::ReproduceError;
use crate::engine::Engine;
use crate::formula::Value;

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Published {
    /// Size, node-degree, diameter and bisection by Theorem 1. Smaller cuts than this bisection
    /// exist.
    pub theorem_1: Option<[u64; 4]>,
    /// Size, node-degree and diameter according to Table I.
    pub table_1: Option<[u64; 3]>,
    pub ratio: Option<f64>,
}

impl Published {
    pub fn of(spec: &str) -> Result<Self, ReproduceError> {
        let paper = crate::papers().iter().find(|paper| paper.name == "li");
        let engine = Engine::new(paper.expect("`li` is a paper"), None)?;
        let mut published = Self::default();
        let dual_net = || spec.strip_prefix("rdn:")?.strip_suffix(')')?.split_once('(');
        if let Some((k, base)) = dual_net() {
            // If k is no number, the spec is no dual-net, and the paper has no values for it.
            let k: Option<f64> = k.parse().ok();
            let scope = engine.scope(&[("k", k.unwrap_or(f64::NAN).into()), ("base", base.into())]);
            let value = |name| Ok(scope.number(name)? as u64);
            let values: Result<Vec<u64>, ReproduceError> =
                ["size", "degree", "diameter", "bisection"].into_iter().map(value).collect();
            published.theorem_1 = values.ok().and_then(|values| values.try_into().ok());
        }
        for row in engine.scope(&[]).value("table_1")?.list()? {
            let scope = engine.scope(&[("row", row.clone())]);
            if scope.value("row.spec")? == Value::from(spec) {
                let figure = |i| {
                    Ok::<_, ReproduceError>(scope.number(&format!("at(row.figures, {i})"))? as u64)
                };
                published.table_1 = Some([figure(0)?, figure(1)?, figure(2)?]);
                published.ratio = Some(scope.number("row.ratio")?);
            }
        }
        Ok(published)
    }
}
