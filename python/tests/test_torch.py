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
    assert audit.share.value > 0.05
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
    assert any("computes something else" in record.message for record in caplog.records)
    with pytest.raises(probity.OptionError, match="computes something else"):
        probity.import_network(Residual(), probity.infer_schema(DATA, "hired"))


def test_a_network_becomes_a_model_directory():
    network = trained(STACKS["logits"](), 2)
    schema = probity.infer_schema(DATA, "hired", protected=["male"])
    model = probity.import_network(network, schema, out="m")
    assert probity.audit("m", DATA, **QUICK).share.value > 0.05
    assert model.directory.name == "m"
    floats = DATA.assign(skill=DATA.skill + 0.5)
    with pytest.raises(probity.OptionError, match="'skill' is numeric"):
        probity.import_network(network, probity.infer_schema(floats, "hired"))
