// SPDX-License-Identifier: Apache-2.0
import {bytesRate, clock, epochNumber, fixed, percent, rate, unknown, whole} from './format.js';
import {Controls} from './controls.jsx';

const phaseText = {
  waiting: 'Waiting for workers', training: 'Training', flushing: 'Flushing', evaluating: 'Evaluating', collecting: 'Collecting', finished: 'Finished',
  pausing: 'Stopping',
};

function Tile({label, value, unit, note, field}) {
  return <div class="tile"><dt>{label}</dt><dd><b data-field={field}>{value}</b>{unit && value !== unknown && <span class="unit">{unit}</span>}{note && <small>{note}</small>}</dd></div>;
}

const setting = (name, value) => (value === undefined || value === null || value === '' ? null : <li key={name}><span>{name}</span> {value}</li>);

function waitingFor({job, workers}) {
  if (!job) return 'the aggregator';
  const count = (role) => workers.filter((w) => w.role === role && w.presence !== 'gone').length;
  const parts = [`${count('conv-worker')} of ${job.conv_workers} CONV`];
  if (job.fc_workers > 0) parts.push(`${count('fc-worker')} of ${job.fc_workers} FC`);
  if (count('data-loader') === 0) parts.push('no data loader');
  return parts.join(', ');
}

export function Run({state, history}) {
  const {run, job} = state;
  const aggregator = state.workers.find((row) => row.role === 'aggregator')?.figures;
  const newest = history[history.length - 1];
  const best = history.reduce((most, row) => Math.max(most, row.accuracy), 0);
  const progress = run.phase === 'finished' && run.progress > 0.999 ? 1 : run.progress ?? 0;
  return (
    <section class="panel run" aria-label="Run">
      <div class="headline">
        <span class={`badge ${run.phase}`} data-field="run.phase">{run.held && run.phase === 'training' ? 'Paused' : phaseText[run.phase] ?? run.phase}</span>
        <h1>{run.model ?? 'No run yet'}{run.dataset && <span> on {run.dataset}</span>}</h1>
        <p class="epoch">{run.phase === 'waiting' || !run.epochs ? waitingFor(state) : <>Epoch <b data-field="run.epoch">{epochNumber(run, job)}</b>{!job?.samples && <> of <b>{run.epochs}</b></>}</>}</p>
      </div>
      <Controls state={state} />
      {run.message && <p class="waits" role="status" data-field="run.message">{run.message}</p>}
      <div class="progress">
        <div class="bar" role="progressbar" aria-label="Progress" aria-valuemin="0" aria-valuemax="100" aria-valuenow={Math.floor(100 * progress)}>
          <i style={{width: `${100 * progress}%`}} />
        </div>
        <p><b>{percent(progress, 1)}</b>
          <span>{clock(run.seconds)} elapsed</span>
          {run.phase === 'training' && run.eta_seconds !== null && <span>{clock(run.eta_seconds)} left</span>}
          {state.groups?.[0] && <span>step {whole(state.groups[0].version)}</span>}
          {run.generation > 1 && <span>generation {run.generation}</span>}
          {aggregator?.checkpoints > 0 && <span>{whole(aggregator.checkpoints)} {aggregator.checkpoints === 1 ? 'checkpoint' : 'checkpoints'}</span>}</p>
      </div>
      <dl class="tiles">
        <Tile label="Training loss" value={fixed(run.loss, 4)} field="run.loss" />
        <Tile label="Test accuracy" value={newest ? fixed(100 * newest.accuracy, 2) : unknown} unit="%" field="accuracy"
          note={history.length > 1 ? `best ${fixed(100 * best, 2)}` : null} />
        <Tile label="Test loss" value={newest ? fixed(newest.loss, 4) : unknown} field="test_loss" />
        <Tile label="Samples/s" value={rate(run.samples_per_second)} field="run.samples_per_second" />
        <Tile label="Network" value={bytesRate(state.bytes_per_second)} field="bytes_per_second" />
        <Tile label="Samples" value={whole(run.samples_done)} field="run.samples_done"
          note={run.samples_total ? `of ${whole(run.samples_total)}${run.samples_repeated ? `, ${whole(run.samples_repeated)} repeated` : ''}` : null} />
      </dl>
      {job && <ul class="settings" aria-label="Configuration">
        {setting('batch', `${job.batch}`)}{setting('local steps', job.local_steps)}{setting('staleness', state.staleness?.bound)}
        {setting('optimizer', `${job.optimizer}, rate ${job.learning_rate}`)}
        {setting('push', job.compress)}{setting('downlink', job.downlink)}{job.fc_workers > 0 && setting('boundary', job.boundary)}{setting('seed', job.seed)}
      </ul>}
    </section>
  );
}
