// SPDX-License-Identifier: Apache-2.0
// Commands, and the token that they need: of this tab alone, never in the address for longer than it takes to read it.
const place = 'hourglass-token';
let token = '';
try {
  token = sessionStorage.getItem(place) ?? '';
} catch {
  // Storage may be forbidden; then the token lasts as long as the page.
}

export const readToken = () => token;
export function writeToken(text) {
  token = text.trim();
  try {
    sessionStorage.setItem(place, token);
  } catch {
    // As above.
  }
}

/// Takes the token out of the address's hash.
export function takeTokenFromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = given.get('token');
  if (!found) return;
  writeToken(found);
  given.delete('token');
  const rest = given.toString();
  history.replaceState(null, '', rest ? `#${rest}` : location.pathname + location.search);
}

/// {status, text}: the text is empty where the command was taken.
export async function send(command) {
  try {
    const answer = await fetch(`/api/v1/commands/${command}`, {method: 'POST', headers: {Authorization: `Bearer ${token}`}});
    if (answer.ok) return {status: answer.status, text: ''};
    if (answer.status === 401) return {status: 401, text: 'The monitor does not accept this token.'};
    return {status: answer.status, text: (await answer.json()).error.text};
  } catch {
    return {status: 0, text: 'The monitor does not answer.'};
  }
}
