//! A validated training plan, which trains models trial by trial.

use crate::adversary::Adversary;
use crate::canary::{Canary, canaries};
use crate::checks::{check_data, check_targets};
use crate::coins::coins;
use crate::data::Dataset;
use crate::digest::training_digest;
use crate::engine::{TrainedModel, Workspace};
use crate::measured_trials::MeasuredTrials;
use crate::memory::{MemoryNeeds, Parallelism};
use crate::model::{Layer, Model};
use crate::scoring::{believing, scores, scores_of_models, target_models};
use crate::simd::InstructionSet;
use crate::utility::Utility;
use misdeal_core::{
    BatchScheme, CanaryKind, Error, Independence, LayerKind, Loss, Recipe, Result, ScoreStore, Setting,
    SettingHash, Stream, World,
};
use misdeal_game::TargetModel;
use misdeal_schemes::PositionLaw;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// The engine's name in reports and stores. All instruction sets give the same bits.
pub const ENGINE: &str = "train-cpu";

/// A validated setting, recipe and data set, with everything that all trials share.
#[derive(Debug, Clone)]
pub struct TrainingPlan {
    setting: Setting,
    recipe: Recipe,
    dataset: Arc<Dataset>,
    model: Model,
    stream: Stream,
    canaries: Vec<Canary>,
    adversary: Adversary,
    target_models: Vec<TargetModel>,
    measured: MeasuredTrials,
    instruction_set: InstructionSet,
}

/// The scores of some trials, and the utility of their models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialBatch {
    /// Scores of canaries that were present: all canaries of the first trial, then of the second, and so on.
    pub scores_in: Vec<f64>,
    /// Scores of canaries that were zeroed out, in the same order.
    pub scores_out: Vec<f64>,
    /// Accuracies and biases of all models.
    pub utility: Utility,
}

impl TrialBatch {
    /// Adds the scores of a trial's two models, where `coins` says which canaries the first one has, and their utility.
    ///
    /// The second model has all other canaries.
    pub fn insert(&mut self, coins: &[bool], [first, second]: [&[f64]; 2], utility: &Utility) {
        for ((&coin, &a), &b) in coins.iter().zip(first).zip(second) {
            let (score_in, score_out) = if coin { (a, b) } else { (b, a) };
            self.scores_in.push(score_in);
            self.scores_out.push(score_out);
        }
        self.utility.merge(utility);
    }

    /// Adds the batch of the trials that follow.
    pub fn append(&mut self, next: TrialBatch) {
        self.scores_in.extend(next.scores_in);
        self.scores_out.extend(next.scores_out);
        self.utility.merge(&next.utility);
    }
}

impl TrainingPlan {
    /// Validates setting, recipe and data set. The setting's `training` field becomes the digest of the other two.
    ///
    /// # Errors
    /// The three do not fit together; the error says what is allowed.
    pub fn new(setting: &Setting, recipe: &Recipe, dataset: Arc<Dataset>) -> Result<Self> {
        Self::with_stream(setting, recipe, dataset, Stream::new)
    }

    /// Like [`new`](Self::new), with another random stream, such as [`Stream::philox`] for GPUs.
    ///
    /// Canaries are drawn from this stream too.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_stream(
        setting: &Setting,
        recipe: &Recipe,
        dataset: Arc<Dataset>,
        stream: impl FnOnce(&SettingHash) -> Stream,
    ) -> Result<Self> {
        recipe.check()?;
        let checked = Setting { training: None, ..setting.clone() }.validated()?;
        checked.check_is_played()?;
        check_data(&checked, recipe, &dataset)?;
        check_targets(&checked, recipe)?;
        let model = Model::new(&recipe.model, dataset.train.shape, dataset.classes)?;
        MemoryNeeds::new(&model, &checked, recipe, &dataset).check_shared()?;
        let records = checked.dataset_size() as usize;
        let digest = training_digest(&dataset, records, recipe);
        let setting = Setting { training: Some(digest), ..checked };
        if u128::from(setting.steps()) * (model.parameters as u128 + 16) >= 1 << 55 {
            let hint = "the noise of a training must fit the stream's counter";
            return Err(Error::bad_value(
                "epochs",
                setting.epochs,
                "fewer steps times parameters than 2^55",
                hint,
            ));
        }
        let stream = stream(&setting.hash());
        let canaries = canaries(recipe, &model, &dataset.train, records, &stream)?;
        Ok(TrainingPlan {
            adversary: Adversary::new(&setting, recipe.canaries),
            target_models: target_models(&setting, recipe.canaries),
            recipe: recipe.clone(),
            setting,
            dataset,
            model,
            stream,
            canaries,
            measured: MeasuredTrials::All,
            instruction_set: InstructionSet::fastest(),
        })
    }

    /// The same plan with another stream, and canaries that are drawn from it. The data are not hashed again.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn on_stream(&self, stream: impl FnOnce(&SettingHash) -> Stream) -> Result<Self> {
        let stream = stream(&self.setting.hash());
        let records = self.setting.dataset_size() as usize;
        let canaries = canaries(&self.recipe, &self.model, &self.dataset.train, records, &stream)?;
        Ok(TrainingPlan { stream, canaries, ..self.clone() })
    }

    /// Measures the accuracy in these trials only. The default is all trials.
    #[must_use]
    pub fn with_measured_trials(mut self, measured: MeasuredTrials) -> Self {
        self.measured = measured;
        self
    }

    /// Uses another instruction set than the fastest, for comparisons.
    #[must_use]
    pub fn with_instruction_set(mut self, set: InstructionSet) -> Self {
        self.instruction_set = set;
        self
    }

    /// The setting, with the digest of the training. Its hash is the store's key.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The data set.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The random stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The canaries, one for each target.
    pub fn canaries(&self) -> &[Canary] {
        &self.canaries
    }

    /// The adversary.
    pub fn adversary(&self) -> &Adversary {
        &self.adversary
    }

    /// The adversary's model of each target.
    pub fn target_models(&self) -> &[TargetModel] {
        &self.target_models
    }

    /// Whether the adversary debiases. In the worst case there is no bias, so it does not.
    pub fn debiases(&self) -> bool {
        self.recipe.debias && self.adversary.keeps_naturals()
    }

    /// Whether the accuracy of a trial's models is measured.
    pub fn measures_accuracy(&self, trial: u64) -> bool {
        self.measured.includes(trial)
    }

    /// Number of Gaussian numbers per step: the parameters, rounded up to a multiple of sixteen.
    pub fn noise_stride(&self) -> u64 {
        self.model.parameters.next_multiple_of(16) as u64
    }

    /// What proves that all scores of a world are independent and have the same law, as bounds on rates require; `None` if nothing
    /// does.
    ///
    /// Scores of different models are independent. For several canaries of one model, `docs/proofs/coins.md` has the proof. It
    /// needs natural gradients that are zero or orthogonal to all canaries: the worst case, or the null space of softmax
    /// cross-entropy. It also needs places of which one of these holds:
    ///
    /// - [`Follow`](Independence::Follow): they are independent and uniform by the rule "follow".
    /// - [`Memberships`](Independence::Memberships): records join batches independently (poisson, balls-in-bins).
    /// - [`SymmetricScores`](Independence::SymmetricScores): they do not matter, because the score gives all of them the same
    ///   weight.
    pub fn independence(&self) -> Option<Independence> {
        if self.recipe.canaries == 1 {
            return Some(Independence::Single);
        }
        let null_space =
            self.recipe.canary == CanaryKind::NullSpace && self.model.loss == Loss::SoftmaxCrossEntropy;
        let has_bias = self.adversary.keeps_naturals() && !null_space;
        let other_belief = self.setting.scoring_scheme() != self.setting.scheme;
        if has_bias || other_belief || self.debiases() {
            return None;
        }
        // The number of batches to which a target is equally likely to belong.
        let batches = |model: &TargetModel| match &model.law {
            PositionLaw::OnceAnEpoch(weights) | PositionLaw::KeptForAllEpochs(weights) => {
                weights.is_uniform().then(|| weights.range().end - weights.range().start)
            }
            PositionLaw::EachStep { .. } => None,
        };
        let first = self.target_models.first().and_then(batches);
        match self.setting.scheme {
            BatchScheme::Poisson | BatchScheme::BallsInBins => Some(Independence::Memberships),
            _ if self.adversary.follows() => Some(Independence::Follow),
            _ if first.is_some() && self.target_models.iter().all(|model| batches(model) == first) => {
                Some(Independence::SymmetricScores)
            }
            _ => None,
        }
    }

    /// Whether each canary is present in a model.
    pub fn coins(&self, world: World, trial: u64) -> Vec<bool> {
        coins(&self.stream, world, trial, self.recipe.canaries)
    }

    /// Bytes that each core needs, without the shared data set and canaries.
    pub fn workspace_bytes(&self) -> usize {
        let records = self.parallelism().map_or(1, |parallelism| parallelism.records);
        usize::try_from(self.needs().core(records)).unwrap_or(usize::MAX)
    }

    fn needs(&self) -> MemoryNeeds<'_> {
        MemoryNeeds::new(&self.model, &self.setting, &self.recipe, &self.dataset)
    }

    /// How many models train at a time on the current thread pool within [`MOST_BYTES`](crate::MOST_BYTES).
    ///
    /// # Errors
    /// Not even one model fits. The error names the part that needs the most memory.
    pub fn parallelism(&self) -> Result<Parallelism> {
        self.needs().parallelism(rayon::current_num_threads())
    }

    /// Floating-point operations of training one model; a multiply-add counts as two.
    pub fn operations_per_model(&self) -> f64 {
        let layer = |(number, layer): (usize, &Layer)| {
            let weights = layer.weights.map_or(0, |weights| weights.inputs * weights.outputs);
            let is_linear = matches!(layer.kind, LayerKind::Linear { .. });
            let places = if is_linear { 1 } else { layer.output.height * layer.output.width };
            // The first layer passes no delta back.
            let passes = if number == 0 { 2.0 } else { 3.0 };
            passes * 2.0 * (weights * places) as f64
        };
        let per_record: f64 = self.model.layers.iter().enumerate().map(layer).sum();
        per_record * self.setting.dataset_size() as f64 * self.setting.epochs as f64
    }

    /// Trains the model of one trial and also returns its parameters; `None` if cancelled.
    pub fn train(
        &self,
        workspace: &mut Workspace,
        world: World,
        trial: u64,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<TrainedModel> {
        let mut trained = workspace.train(self, world, trial, is_cancelled)?;
        trained.outputs.parameters = workspace.parameters().iter().map(|&p| f64::from(p)).collect();
        Some(trained)
    }

    /// Allocates working memory for [`train`](Self::train).
    pub fn workspace(&self) -> Workspace {
        let records = self.parallelism().map_or(1, |parallelism| parallelism.records);
        Workspace::new(self, self.instruction_set, records)
    }

    /// Trains and scores the models of `trials` in both worlds; `None` if `is_cancelled` returns true.
    ///
    /// All cores of the current thread pool are used, with one model at a time on each. `on_trained` is called after every model.
    ///
    /// The result does not depend on the number of cores, nor on how trials are split over calls. Memory is the scores plus
    /// [`workspace_bytes`](Self::workspace_bytes) for each core that [`parallelism`](Self::parallelism) allows. Apart from the
    /// scores, it does not grow with the number of trials.
    pub fn score(
        &self,
        trials: Range<u64>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        on_trained: &(dyn Fn() + Sync),
    ) -> Option<TrialBatch> {
        let results = self.of_all_models(trials.clone(), is_cancelled, on_trained, |model| {
            (scores(self, &model.outputs), self.utility(model))
        })?;
        Some(self.batch_of(trials, &results))
    }

    /// Puts the scores of all models of `trials`, two for each trial, into the worlds that their coins say.
    pub fn batch_of(&self, trials: Range<u64>, models: &[(Vec<f64>, Utility)]) -> TrialBatch {
        let mut batch = TrialBatch::default();
        for (trial, pair) in trials.zip(models.chunks_exact(2)) {
            let mut utility = pair[0].1;
            utility.merge(&pair[1].1);
            batch.insert(&self.coins(World::In, trial), [&pair[0].0, &pair[1].0], &utility);
        }
        batch
    }

    /// Trains models once and scores them for several adversaries. Each adversary believes in another scheme.
    ///
    /// The utility is in the first batch.
    pub fn score_for_beliefs(
        &self,
        beliefs: &[BatchScheme],
        trials: Range<u64>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        on_trained: &(dyn Fn() + Sync),
    ) -> Option<Vec<TrialBatch>> {
        let canaries = self.recipe.canaries;
        let believed: Vec<Vec<TargetModel>> =
            beliefs.iter().map(|&scheme| believing(&self.setting, scheme, canaries)).collect();
        let results = self.of_all_models(trials.clone(), is_cancelled, on_trained, |model| {
            let scores = believed.iter().map(|models| scores_of_models(self, models, &model.outputs));
            (scores.collect::<Vec<_>>(), self.utility(model))
        })?;
        let batch = |belief: usize| {
            let of_belief = |(scores, utility): &(Vec<Vec<f64>>, Utility)| {
                (scores[belief].clone(), if belief == 0 { *utility } else { Utility::default() })
            };
            self.batch_of(trials.clone(), &results.iter().map(of_belief).collect::<Vec<_>>())
        };
        Some((0..beliefs.len()).map(batch).collect())
    }

    /// Trains the models of `trials` in both worlds and applies `of_model` to each, in order.
    fn of_all_models<T: Send>(
        &self,
        trials: Range<u64>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        on_trained: &(dyn Fn() + Sync),
        of_model: impl Fn(&TrainedModel) -> T + Sync,
    ) -> Option<Vec<T>> {
        let models: Vec<(u64, World)> =
            trials.flat_map(|trial| World::BOTH.map(|world| (trial, world))).collect();
        // A finished model's workspace is used again for the next model; there are never more workspaces than cores.
        let idle: Mutex<Vec<Workspace>> = Mutex::default();
        let train = |&(trial, world): &(u64, World)| {
            let waiting = idle.lock().ok().and_then(|mut idle| idle.pop());
            let mut workspace = waiting.unwrap_or_else(|| self.workspace());
            let model = workspace.train(self, world, trial, is_cancelled)?;
            if let Ok(mut idle) = idle.lock() {
                idle.push(workspace);
            }
            on_trained();
            Some(of_model(&model))
        };
        let cores = self.parallelism().map_or(1, |parallelism| parallelism.cores);
        if cores >= rayon::current_num_threads() {
            return models.par_iter().with_max_len(1).map(train).collect();
        }
        models.par_iter().with_min_len(models.len().div_ceil(cores)).map(train).collect()
    }

    /// Reads the utility of the models in a store.
    pub fn utility_in(&self, store: &ScoreStore) -> Utility {
        let mut utility = Utility::kept_in(store);
        (utility.train_records, utility.test_records) = (self.setting.dataset_size(), self.test_records());
        utility
    }

    fn test_records(&self) -> u64 {
        self.dataset.test.as_ref().map_or(0, |test| test.labels.len() as u64)
    }

    /// Computes the utility of a trained model whose outputs have no bias, because no gradient is natural.
    pub fn utility_without_bias(&self, correct: Option<(u64, Option<u64>)>) -> Utility {
        let mut utility = self.utility_of_accuracy(correct);
        utility.insert_zeros(self.setting.steps() * self.recipe.canaries as u64);
        utility
    }

    fn utility_of_accuracy(&self, correct: Option<(u64, Option<u64>)>) -> Utility {
        let mut utility = Utility::default();
        (utility.train_records, utility.test_records) = (self.setting.dataset_size(), self.test_records());
        if let Some((train, test)) = correct {
            utility.train_correct.insert(train as i64);
            if let Some(test) = test {
                utility.test_correct.insert(test as i64);
            }
        }
        utility
    }

    /// Computes the utility of a trained model.
    pub fn utility(&self, model: &TrainedModel) -> Utility {
        let mut utility = self.utility_of_accuracy(model.correct);
        model.outputs.biases.iter().flatten().for_each(|&bias| utility.insert_bias(bias));
        utility
    }
}
