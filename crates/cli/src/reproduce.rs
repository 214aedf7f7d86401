//! `misdeal reproduce`.

use crate::arguments::{CommonArguments, ReproduceArguments};
use crate::failure::{Failure, Success};
use crate::interruption::Patience;
use crate::progress::Bar;
use crate::{output, plot};

/// Plays what the paper played, and prints both.
pub fn run(arguments: ReproduceArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let ReproduceArguments { mut request, plot } = arguments;
    plot::check(plot.as_deref())?;
    request.seed = common.seed;
    common.environment.listen(Patience::ToSave)?;
    let document = {
        let bar = Bar::new(common);
        misdeal_paper::reproduce(&request, &bar)?.into()
    };
    if let Some(path) = &plot {
        plot::write(path, &document)?;
    }
    output::deliver(common, &document)?;
    Ok(Success::Fine)
}
