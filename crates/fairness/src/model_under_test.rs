//! The audited model: one that gives gradients, or any classifier of rows.
//!
//! A search, an estimate and a check need [`Classifier`] only. Strategies that follow gradients
//! need [`Differentiable`]; asked of a model without, they are refused before anything is written.

use probity_nn::decision::{Decided, Decision};
use probity_nn::fnn::{Fnn, Network};
use probity_nn::{Classifier, Differentiable};
use probity_tensor::device::{ComputeDevice, DeviceName};

/// A model with what it can be asked for: outputs and gradients, or outputs only.
#[derive(Clone, Copy)]
pub enum ModelAccess<'a> {
    /// A model that gives outputs and gradients.
    Gradients(&'a dyn Differentiable),
    /// A model that gives outputs only.
    Outputs(&'a dyn Classifier),
}

impl<'a> ModelAccess<'a> {
    /// The model as a classifier.
    pub fn classifier(self) -> &'a dyn Classifier {
        match self {
            ModelAccess::Gradients(model) => model,
            ModelAccess::Outputs(model) => model,
        }
    }
}

enum Model<'m> {
    Gradients(Box<dyn Differentiable + 'm>),
    Outputs(Box<dyn Classifier + 'm>),
}

/// A model under audit, and the same model on the device that verification uses, where that is
/// another.
pub struct ModelUnderTest<'m> {
    model: Model<'m>,
    reference: Option<Box<dyn Classifier + 'm>>,
}

impl<'m> ModelUnderTest<'m> {
    /// Wraps a model that gives gradients, and the same model on the device that verification uses,
    /// where that is another.
    pub fn differentiable(
        model: Box<dyn Differentiable + 'm>,
        reference: Option<Box<dyn Classifier + 'm>>,
    ) -> ModelUnderTest<'m> {
        ModelUnderTest {
            model: Model::Gradients(model),
            reference,
        }
    }

    /// A network on `device`; the reference is the same network on `flex`.
    pub fn network(network: &Network, device: &ComputeDevice) -> ModelUnderTest<'m> {
        let on_flex = || Box::new(Fnn::new(network, &ComputeDevice::flex())) as Box<dyn Classifier>;
        let reference = (device.name() != DeviceName::Flex).then(on_flex);
        ModelUnderTest::differentiable(Box::new(Fnn::new(network, device)), reference)
    }

    /// Returns this model with `decision` as the rule that makes decisions of its answers.
    #[must_use]
    pub fn deciding(self, decision: &Decision) -> ModelUnderTest<'m> {
        fn decided<M>(model: M, decision: &Decision) -> Box<Decided<M>> {
            let decision = decision.clone();
            Box::new(Decided { model, decision })
        }
        if decision.is_largest() {
            return self;
        }
        ModelUnderTest {
            model: match self.model {
                Model::Gradients(model) => Model::Gradients(decided(model, decision)),
                Model::Outputs(model) => Model::Outputs(decided(model, decision)),
            },
            reference: self
                .reference
                .map(|model| decided(model, decision) as Box<dyn Classifier + 'm>),
        }
    }

    /// A model that can be asked for outputs only; it is its own reference.
    pub fn classifier(model: Box<dyn Classifier + 'm>) -> ModelUnderTest<'m> {
        ModelUnderTest {
            model: Model::Outputs(model),
            reference: None,
        }
    }

    /// The model with what it can be asked for.
    pub fn access(&self) -> ModelAccess<'_> {
        match &self.model {
            Model::Gradients(model) => ModelAccess::Gradients(model.as_ref()),
            Model::Outputs(model) => ModelAccess::Outputs(model.as_ref()),
        }
    }

    /// The reference model, which confirms each pair, where the model itself does not settle it.
    pub fn reference(&self) -> Option<&dyn Classifier> {
        self.reference.as_deref()
    }

    /// The model that settles whether an input is discriminatory: the reference, else the model.
    pub fn judge(&self) -> &dyn Classifier {
        self.reference()
            .unwrap_or_else(|| self.access().classifier())
    }
}
