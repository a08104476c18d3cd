"""Networks of PyTorch: taken over with their gradients where they can be, else asked."""

import numpy as np
import pandas as pd
import pytest
from people import QUICK

import probity

torch = pytest.importorskip("torch")
nn = torch.nn

DRAW = np.random.default_rng(2)
FRAME = pd.DataFrame(
    {
        "skill": DRAW.integers(0, 20, 600),
        "male": DRAW.integers(0, 2, 600),
        "age": DRAW.integers(18, 70, 600),
    }
)
Y = (FRAME.skill + 4 * FRAME.male + DRAW.normal(0, 1, 600) > 11).astype(int)
DATA = FRAME.assign(hired=Y)


def trained(network, outputs):
    torch.manual_seed(1)
    X = torch.tensor(FRAME.to_numpy(), dtype=torch.float32)
    y = torch.tensor(Y.to_numpy())
    optimizer = torch.optim.Adam(network.parameters(), 0.02)
    for _ in range(300):
        optimizer.zero_grad()
        given = network(X)
        if outputs == 1:
            given = given if isinstance(network[-1], nn.Sigmoid) else torch.sigmoid(given)
            loss = nn.functional.binary_cross_entropy(given[:, 0], y.float())
        else:
            loss = nn.functional.cross_entropy(given, y)
        loss.backward()
        optimizer.step()
    return network


STACKS = {
    "logits": lambda: nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 2)),
    "tanh": lambda: nn.Sequential(nn.Linear(3, 8, bias=False), nn.Tanh(), nn.Linear(8, 2)),
    "sigmoid": lambda: nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid()),
}


@pytest.mark.parametrize("name", STACKS)
def test_stacks_are_taken_over(name):
    network = trained(STACKS[name](), 1 if name == "sigmoid" else 2)
    audit = probity.audit(network, DATA, ["male"], "hired", **QUICK)
    assert audit.specification["strategy"] == "adf"
    assert audit.rows_per_second is None and audit.verify()["rejected"] == 0
    assert audit.uniform.value > 0.05
    # The pairs are pairs of the module itself.
    network.eval()
    for pair in audit.pairs().slice(0, 50).to_pylist():
        for side in ("x", "other"):
            row = [[float(pair[f"{side}_{column}"]) for column in FRAME]]
            given = network(torch.tensor(row)).detach().numpy()[0]
            decided = int(given[0] > 0.5) if len(given) == 1 else int(given.argmax())
            assert str(decided) == pair[f"label_{side}"]


def test_the_order_of_classes_is_the_schemas():
    network = trained(STACKS["logits"](), 2)
    words = DATA.assign(hired=np.where(Y == 1, "high", "low"))
    # Output 1 is 'high', which the schema has last all the same; sorted it would be first.
    audit = probity.audit(network, words, ["male"], "hired", classes=["low", "high"], **QUICK)
    swapped = probity.audit(network, words, ["male"], "hired", classes=["high", "low"], **QUICK)
    assert audit.share == swapped.share
    pair = audit.pairs().slice(0, 1).to_pylist()[0]
    assert pair[f"label_{'x' if pair['x_male'] == '1' else 'other'}"] == "high"
    pair = swapped.pairs().slice(0, 1).to_pylist()[0]
    assert pair[f"label_{'x' if pair['x_male'] == '1' else 'other'}"] == "low"


class Residual(nn.Module):
    """Its layers do not say what it computes."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 3), nn.Linear(3, 2)

    def forward(self, rows):
        return self.last(rows / 10 + torch.relu(self.first(rows)))


def test_anything_else_is_asked_in_batches(caplog):
    torch.manual_seed(3)
    with caplog.at_level("INFO", logger="probity"):
        audit = probity.audit(Residual(), DATA, ["male"], "hired", **QUICK)
    assert audit.rows_per_second > 0 and audit.verify()["rejected"] == 0
    assert any("computes something other" in record.message for record in caplog.records)
    with pytest.raises(probity.OptionError, match="computes something other"):
        probity.import_network(Residual(), probity.infer_schema(DATA, "hired"))


def test_a_network_becomes_a_model_directory():
    network = trained(STACKS["logits"](), 2)
    schema = probity.infer_schema(DATA, "hired", protected=["male"])
    model = probity.import_network(network, schema, out="m")
    assert probity.audit("m", DATA, **QUICK).uniform.value > 0.05
    assert model.directory.name == "m"
    floats = DATA.assign(skill=DATA.skill + 0.5)
    with pytest.raises(probity.OptionError, match="'skill' is numeric"):
        probity.import_network(network, probity.infer_schema(floats, "hired"))


WORDS = ["<pad>", "<unk>", *"the a man woman doctor nurse rude kind is was good awful".split()]


class Reader(nn.Module):
    def __init__(self, kind, average=False):
        super().__init__()
        self.embedding = nn.Embedding(len(WORDS), 6)
        self.rnn = kind(6, 5, batch_first=True)
        self.linear = nn.Linear(5, 2)
        self.average = average

    def forward(self, tokens):
        states, _ = self.rnn(self.embedding(tokens))
        return self.linear(states.mean(dim=1) if self.average else states[:, -1])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_networks_are_taken_over(kind):
    torch.manual_seed(1)
    options = {"classes": ["fine", "toxic"], "unknown_row": 1, "padding_row": 0}
    model = probity.import_text_network(Reader(kind), WORDS, **options)
    texts = ["the man is rude", "a woman was kind", "the doctor is awful and the woman is good"] * 5
    audit = probity.audit(model, texts, ["gender"], seeds=10, local=5, estimate=15)
    assert audit.summary["modality"] == "text" and audit.verify()["rejected"] == 0
    with pytest.raises(probity.OptionError, match="computes something other"):
        probity.import_text_network(Reader(kind, average=True), WORDS, **options)


def test_columns_in_another_order_than_the_schema_are_no_other_network():
    """Whether it is taken over or asked, a network gets its columns in the order of the data."""
    network = nn.Sequential(nn.Linear(3, 2))
    with torch.no_grad():
        # It decides by the second column of the data, which is 'male'.
        network[0].weight[:] = torch.tensor([[0.0, -9.0, 0.0], [0.0, 9.0, 0.0]])
        network[0].bias[:] = torch.tensor([4.5, -4.5])
    schema = probity.infer_schema(DATA[["male", "skill", "age", "hired"]], "hired", protected=["male"])
    audit = probity.audit(network, DATA, schema=schema, **QUICK)
    assert audit.share.value == 1 and audit.rows_per_second > 0
    own = probity.infer_schema(DATA, "hired", protected=["male"])
    assert probity.audit(network, DATA, schema=own, **QUICK).share.value == 1


def test_a_network_that_was_taken_over_is_part_of_its_run():
    network = trained(STACKS["logits"](), 2)
    audit = probity.audit(network, DATA, ["male"], "hired", **QUICK)
    assert audit.verify(network, DATA)["rejected"] == 0
    audit.save("kept")
    del audit
    kept = probity.Audit.load("kept")
    assert kept.verify()["rejected"] == 0 and kept.verify(network)["rejected"] == 0
    with pytest.raises(probity.ProbityError, match="not the one"):
        kept.verify(STACKS["logits"]())


def test_a_network_that_was_taken_over_goes_on():
    network = trained(STACKS["logits"](), 2)
    whole = probity.audit(network, DATA, ["male"], "hired", **QUICK)

    def stop(phase, *_):
        if phase == "local":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probity.audit(network, DATA, ["male"], "hired", out="run", progress=stop, **QUICK)
    other = trained(STACKS["logits"](), 2)
    with pytest.raises(probity.ProbityError, match="changed since"):
        probity.audit(other, DATA, ["male"], "hired", out="run", resume=True)
    with pytest.raises(probity.ProbityError, match="a function is no torch"):
        probity.audit(lambda frame: frame, DATA, ["male"], "hired", out="run", resume=True)
    audit = probity.audit(network, DATA, ["male"], "hired", out="run", resume=True)
    assert audit.pairs().equals(whole.pairs()) and audit.shares == whole.shares
    assert probity.Audit.load("run").verify()["rejected"] == 0


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, rows):
        return torch.sigmoid(self.last(torch.relu(self.first(rows / 50))))


def test_what_looks_like_probabilities_is_not_taken_for_logits():
    torch.manual_seed(2)
    floats = DATA.assign(age=DATA.age + 0.5)
    with pytest.raises(probity.OptionError, match="look like probabilities"):
        probity.audit(Functional(), floats, ["male"], "hired")
    probity.audit(Functional(), floats, ["male"], "hired", gives="probabilities", **QUICK)


def test_training_mode_and_statistics_stay_as_they_were():
    network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))
    network.train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    audit = probity.audit(network, DATA, ["male"], "hired", **QUICK)
    assert network.training and audit.verify()["rejected"] == 0
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
