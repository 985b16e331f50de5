// SPDX-License-Identifier: Apache-2.0
import {useRef, useState} from 'preact/hooks';
import {readToken, send, writeToken} from './commands.js';

const fates = {sent: 'sent', done: 'done', refused: 'refused', unanswered: 'no answer'};

/// Pause, resume, checkpoint, stop. The token comes with the link that `train` prints, or is asked for once a tab.
export function Controls({state}) {
  const {run, commands} = state;
  const asking = useRef(null), stopping = useRef(null), field = useRef(null);
  const [told, tell] = useState('');
  const [wanted, want] = useState('');
  if (state.closed || !['waiting', 'training', 'flushing', 'collecting', 'evaluating'].includes(run.phase)) return null;
  const training = run.phase === 'training';
  const newest = commands?.[commands.length - 1];

  const give = async (command) => {
    want(command);
    if (!readToken()) return asking.current.showModal();
    const answer = await send(command);
    tell(answer.text);
    if (answer.status === 401) asking.current.showModal();
  };
  const enter = () => {
    if (!field.current.value) return;
    writeToken(field.current.value);
    field.current.value = '';
    give(wanted);
  };
  const button = (command, text, way = give) => <button type="button" data-command={command} disabled={!training && command !== 'stop'} onClick={() => way(command)}>{text}</button>;
  return (
    <div class="controls" role="group" aria-label="Commands">
      {run.held ? button('resume', 'Resume run') : button('pause', 'Pause run')}
      {button('checkpoint', 'Checkpoint')}
      {button('stop', 'Stop run', () => stopping.current.showModal())}
      <span class="told" data-field="command" role="status">{told || (newest && `${newest.command}: ${fates[newest.fate]}${newest.text ? `, ${newest.text}` : ''}`)}</span>
      <dialog ref={asking} aria-labelledby="token-title">
        <h2 id="token-title">Token</h2>
        <p>{told && <b>{told} </b>}Commands need this run's token: it is in the link that <code>hourglass train</code> prints, in <code>monitor.token</code> of the run folder, or in the monitor's log.</p>
        <form method="dialog" onSubmit={enter}>
          <label>Token <input ref={field} name="token" type="password" autocomplete="off" /></label>
          <button type="submit">Send {wanted}</button> <button type="button" onClick={() => asking.current.close()}>Cancel</button>
        </form>
      </dialog>
      <dialog ref={stopping} aria-labelledby="stop-title">
        <h2 id="stop-title">Stop this run?</h2>
        <p>What is under way ends, the model is saved, all processes leave. <code>hourglass train --resume</code> goes on from there.</p>
        <form method="dialog" onSubmit={() => give('stop')}>
          <button type="submit">Stop run</button> <button type="button" onClick={() => stopping.current.close()}>Cancel</button>
        </form>
      </dialog>
    </div>
  );
}
